import {
  type Attributes,
  INVALID_SPAN_CONTEXT,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  context,
  diag,
  isSpanContextValid,
  trace,
} from '@opentelemetry/api';
import type {
  AcquireEnd,
  AttemptEnd,
  BegunAttempt,
  Begun,
  NamedTask,
  RunEnd,
} from '../core/context/instrumentation.js';
import { RunSkippedError } from '../core/permits/runs/run-skipped.error.js';
import { codeOfError, messageOf, nameOfError, stackOf } from '../core/decision/index.js';
import { groupType } from '../tasks/rules/task-id.js';
import { outcomeOf } from './call-metrics.js';
import type { Labels } from './labels.js';
import { ATTRIBUTES as A } from './metrics.js';

/** Makes a span for each call. */
export class Spans {
  constructor(
    private readonly tracer: Tracer,
    private readonly labels: Labels,
  ) {}

  acquire<E extends AcquireEnd>(semaphore: string, acquirer: string, call: () => Promise<E>): Promise<E> {
    const attributes = { [A.semaphore]: semaphore, [A.acquirer]: acquirer };
    return this.#within(`acquire ${this.labels.semaphore(semaphore)}`, { attributes }, call, (span, end) => {
      span.setAttributes({ [A.outcome]: end.permit ? 'granted' : 'denied', ...permitOf(end.permit) });
      if (end.reason) span.setAttribute(A.denial, end.reason);
      if (end.error) fail(span, end.error, this.labels);
    });
  }

  run<E extends RunEnd>(
    { semaphore, job }: { readonly semaphore: string; readonly job: string },
    call: (begun: Begun) => Promise<E>,
  ): Promise<E> {
    const attributes = { [A.semaphore]: semaphore, [A.job]: job };
    const name = `run ${this.labels.job(job, semaphore)}`;
    const work = (span: Span) =>
      call((permit) => {
        span.setAttributes({ ...permitOf(permit), ...(permit && { [A.acquirer]: permit.acquirer }) });
      });
    return this.#within(name, { attributes }, work, (span, end) => {
      span.setAttribute(A.outcome, end.executed ? 'completed' : 'skipped');
      if (end.reason) span.setAttribute(A.skip, end.reason);
    });
  }

  /** A trace of its own, with a link to that of the submission, which may be days old. */
  attempt<E extends AttemptEnd>(task: BegunAttempt, call: () => Promise<E>): Promise<E> {
    const attributes = { ...attributesOf(task, 'process'), [A.attempt]: task.token };
    const submission = spanIn(task.trace);
    const links = submission ? [{ context: submission }] : [];
    const options = { kind: SpanKind.CONSUMER, attributes, links, isRoot: true };
    return this.#within(`process ${this.labels.task(task.type)}`, options, call, (span, end) => {
      span.setAttribute(A.outcome, outcomeOf(end));
      if (end.isFailure && end.error !== undefined) fail(span, end.error, this.labels);
    });
  }

  submit<E extends { readonly outcome: string }>(task: NamedTask, call: (trace?: string) => Promise<E>): Promise<E> {
    const options = { kind: SpanKind.PRODUCER, attributes: attributesOf(task, 'send') };
    const work = (span: Span) => call(traceOf(span.spanContext()));
    return this.#within(`send ${this.labels.task(task.type)}`, options, work, (span, { outcome }) => {
      span.setAttribute(A.outcome, outcome);
    });
  }

  /** Makes a call within a span, and ends the span with it. @throws any error of `call` */
  async #within<E>(
    name: string,
    options: {
      readonly kind?: SpanKind;
      readonly attributes: Attributes;
      readonly links?: Link[];
      readonly isRoot?: boolean;
    },
    call: (span: Span) => Promise<E>,
    ended: (span: Span, end: E) => void,
  ): Promise<E> {
    const parent = options.isRoot ? ROOT_CONTEXT : context.active();
    const span =
      harmless(() => this.tracer.startSpan(name, options, parent)) ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    try {
      const end = await context.with(trace.setSpan(parent, span), () => call(span));
      ended(span, end);
      return end;
    } catch (error) {
      if (error instanceof RunSkippedError) span.setAttributes({ [A.outcome]: 'skipped', [A.skip]: error.reason });
      else fail(span.setAttribute(A.outcome, 'failed'), error, this.labels);
      throw error;
    } finally {
      harmless(() => span.end());
    }
  }
}

/** Span processors of the application may throw. A call has its own outcome all the same: a permit was granted, say. */
function harmless<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    diag.error('nestjs-gatekeeper: a span processor of the application failed', error);
    return undefined;
  }
}

function permitOf(permit: AcquireEnd['permit']): Attributes {
  return permit ? { [A.permit]: permit.id, [A.slot]: permit.slot, [A.token]: permit.token } : {};
}

function attributesOf({ id, type }: NamedTask, operation: 'send' | 'process'): Attributes {
  return {
    'messaging.system': 'gatekeeper',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': groupType(type),
    'messaging.message.id': id,
  };
}

function fail(span: Span, error: unknown, labels: Labels): void {
  const message = messageOf(error);
  const [name = '', code, stack] = [nameOfError(error), codeOfError(error), stackOf(error)];
  span.setAttribute(A.error, labels.error(error));
  // Not the error itself: its fields may be no texts, which the SDK takes for granted.
  span.recordException({ name, message, ...(code && { code }), ...(stack && { stack }) });
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** The `traceparent` of W3C Trace Context; undefined if spans are turned off. */
function traceOf(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`;
}

/** The span of a `traceparent`; undefined if there is none that can be read. */
function spanIn(trace: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = /^00-(\w{32})-(\w{16})-(\w{2})$/.exec(trace ?? '') ?? [];
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(span) ? span : undefined;
}
