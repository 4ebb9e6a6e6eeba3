import { type MeterProvider, type TracerProvider, metrics, trace } from '@opentelemetry/api';
import type { Subscription } from 'rxjs';
import type {
  AcquireEnd,
  AttemptEnd,
  Begun,
  BegunAttempt,
  NamedTask,
  RunEnd,
} from '../core/context/instrumentation.js';
import type { ObservedNode, Telemetry, TelemetryDefinition } from '../gatekeeper/telemetry.js';
import { ActiveWork } from './active-work.js';
import { CallMetrics } from './call-metrics.js';
import { EventMetrics } from './event-metrics.js';
import { Gauges } from './gauges.js';
import { Labels } from './labels.js';
import { observeAll, recorder } from './metrics.js';
import { Spans } from './spans.js';

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /**
   * Makes the spans.
   *
   * @defaultValue the global provider
   */
  readonly tracerProvider?: TracerProvider;
  /**
   * Makes the metrics.
   *
   * @defaultValue the global provider, when the application starts
   */
  readonly meterProvider?: MeterProvider;
  /**
   * Whether there are spans.
   *
   * @defaultValue true
   */
  readonly traces?: boolean;
  /**
   * Names a semaphore that no code defines: `(name) => (name.startsWith('import-') ? 'import' : undefined)`. Return one
   * of a few names, or undefined for `_OTHER`.
   *
   * @defaultValue all are `_OTHER`
   */
  readonly semaphoreName?: (name: string) => string | undefined;
  /**
   * The most names of semaphores, and of jobs, types of tasks and errors, in attributes. Others are `_OTHER`. Of types
   * of tasks only those count that a node handles, or that code submits or limits: programs may name any.
   *
   * @defaultValue 200
   */
  readonly maxNames?: number;
}

const SCOPE = 'nestjs-gatekeeper';
const MOST_NAMES = 200;

/** Spans and metrics of a node through `@opentelemetry/api`: for the option `telemetry` of the module. */
export function openTelemetry(options: OpenTelemetryOptions = {}): TelemetryDefinition {
  return { open: () => new OpenTelemetry(options) };
}

interface Observing {
  readonly calls: CallMetrics;
  readonly gauges: Gauges;
  readonly spans: Spans | undefined;
}

/** Observes one node between its start and its end. Before and after, all calls pass through. */
class OpenTelemetry implements Telemetry {
  #observing?: Observing;
  #subscription?: Subscription;
  #endCollections?: () => void;

  constructor(private readonly options: OpenTelemetryOptions) {}

  observe(node: ObservedNode): void {
    const { semaphoreName, maxNames = MOST_NAMES, tracerProvider = trace, traces = true } = this.options;
    // Not earlier: the application may register its provider after it has created the module.
    const meter = (this.options.meterProvider ?? metrics).getMeter(SCOPE);
    const labels = new Labels(maxNames, node, semaphoreName);
    const active = { runs: new ActiveWork(), tasks: new ActiveWork() };
    const record = recorder(meter);
    const events = new EventMetrics(record, labels, active.runs);
    const gauges = new Gauges(node, labels, active);
    this.#subscription = node.events.subscribe((event) => events.note(event));
    this.#endCollections = observeAll(meter, (observe) => gauges.observe(observe));
    const calls = new CallMetrics(record, labels, active.tasks, () => node.monotonic());
    const spans = traces ? new Spans(tracerProvider.getTracer(SCOPE), labels) : undefined;
    this.#observing = { calls, gauges, spans };
  }

  close(): void {
    this.#subscription?.unsubscribe();
    this.#endCollections?.();
    this.#observing = undefined;
    this.#endCollections = undefined;
  }

  async acquire<E extends AcquireEnd>(semaphore: string, acquirer: string, call: () => Promise<E>): Promise<E> {
    const observing = this.#observing;
    if (!observing) return call();
    const { calls, spans } = observing;
    return measured(calls.acquire(semaphore), () => (spans ? spans.acquire(semaphore, acquirer, call) : call()));
  }

  run<E extends RunEnd>(
    job: { readonly semaphore: string; readonly job: string },
    call: (begun: Begun) => Promise<E>,
  ): Promise<E> {
    const spans = this.#observing?.spans;
    return spans ? spans.run(job, call) : call(() => undefined);
  }

  async attempt<E extends AttemptEnd>(task: BegunAttempt, call: () => Promise<E>) {
    const observing = this.#observing;
    if (!observing) return call();
    const { calls, spans } = observing;
    return measured(calls.attempt(task), () => (spans ? spans.attempt(task, call) : call()));
  }

  async submit<E extends { readonly outcome: string }>(
    task: NamedTask,
    call: (trace?: string) => Promise<E>,
  ): Promise<E> {
    const { calls, spans } = this.#observing ?? {};
    const end = await (spans ? spans.submit(task, call) : call());
    calls?.submitted(task, end.outcome);
    return end;
  }

  storeCall(part: string, took: number, error?: unknown): void {
    this.#observing?.calls.storeCall(part, took, error);
  }

  backlog(waiting: ReadonlyMap<string, number>): void {
    this.#observing?.gauges.count(waiting);
  }
}

/** @param ended gets the result of the call; nothing after an error */
async function measured<E>(ended: (end?: E) => void, call: () => Promise<E>): Promise<E> {
  let end: E | undefined;
  try {
    return (end = await call());
  } finally {
    ended(end);
  }
}
