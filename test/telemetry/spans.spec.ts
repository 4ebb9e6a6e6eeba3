import { SpanKind, SpanStatusCode, diag } from '@opentelemetry/api';
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { StoreUnavailableError, single } from 'nestjs-gatekeeper';
import type { Tasks } from '../../lib/tasks/index.js';
import { messageOf } from '../../lib/core/decision/index.js';
import { openEnd, useCluster } from '../support/nodes.js';
import { type Observed, useObserved } from './observed.js';

const cluster = useCluster();
/** A submission while the former one runs counts for another run. */
const UNIQUE = { unique: { key: 'one', during: 'waiting', onConflict: 'replace' } } as const;
const observe = useObserved();

async function start(observed: Observed, options = {}) {
  const nodes = cluster();
  const node = await nodes.node({ telemetry: observed.telemetry(), ...options });
  return { nodes, node, gatekeeper: node.gatekeeper };
}

const spanOf = (observed: Observed, name: string): ReadableSpan => {
  const [span, ...others] = observed.spansNamed(name);
  expect([observed.spans.map((each) => each.name), others]).toEqual([expect.arrayContaining([name]), []]);
  return span!;
};

/** Work of the application that makes a span of its own. */
const workOf = (observed: Observed) => async () => observed.tracerProvider.getTracer('app').startSpan('work').end();

describe('a run', () => {
  it('is a span with outcome, semaphore, job, acquirer and token', async () => {
    const observed = observe();
    const { nodes, gatekeeper } = await start(observed);
    const run = await gatekeeper.run('job', ({ token }) => token);
    const [permit] = (await nodes.record()).permits;
    expect(spanOf(observed, 'run job').attributes).toEqual({
      'gatekeeper.semaphore.name': 'job',
      'gatekeeper.job.name': 'job',
      'gatekeeper.acquirer': 'app1',
      'gatekeeper.permit.id': permit!.id,
      'gatekeeper.permit.slot': 0,
      'gatekeeper.permit.token': run.executed && run.value,
      'gatekeeper.outcome': 'completed',
    });
  });

  it('is the parent of the call for its permit, and of the spans of its work', async () => {
    const observed = observe();
    const { gatekeeper } = await start(observed);
    await gatekeeper.run('job', workOf(observed));
    const run = spanOf(observed, 'run job').spanContext();
    expect(spanOf(observed, 'acquire job').parentSpanContext?.spanId).toBe(run.spanId);
    expect(spanOf(observed, 'work').parentSpanContext?.spanId).toBe(run.spanId);
    expect(spanOf(observed, 'work').spanContext().traceId).toBe(run.traceId);
  });

  it('that fails has the error', async () => {
    const observed = observe();
    const { gatekeeper } = await start(observed);
    const fail = () => Promise.reject(new TypeError('no file'));
    await expect(gatekeeper.run('job', fail)).rejects.toThrow('no file');
    const { status, events, attributes } = spanOf(observed, 'run job');
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'no file' });
    expect(events.map(({ name, attributes: of }) => [name, of?.['exception.message']])).toEqual([
      ['exception', 'no file'],
    ]);
    expect(attributes).toMatchObject({ 'gatekeeper.outcome': 'failed', 'error.type': 'TypeError' });
  });

  it.each([Object.create(null), Object.assign(new Error('text'), { message: { code: 7 }, name: null })])(
    'that fails with any value %# throws just that one',
    async (thrown) => {
      const observed = observe();
      const { gatekeeper } = await start(observed);
      await expect(gatekeeper.run('job', () => Promise.reject(thrown))).rejects.toBe(thrown);
      const { status, attributes } = spanOf(observed, 'run job');
      expect(status).toEqual({ code: SpanStatusCode.ERROR, message: messageOf(thrown) });
      expect(attributes).toMatchObject({ 'gatekeeper.outcome': 'failed', 'error.type': '_OTHER' });
    },
  );

  it.each(['throw', undefined] as const)(
    'that is skipped has the reason, and no error (onSkip: %s)',
    async (onSkip) => {
      const observed = observe();
      const { nodes, gatekeeper } = await start(observed);
      const other = await nodes.node();
      await other.gatekeeper.acquire('job');
      await gatekeeper.run('job', () => 'done', { onSkip }).catch(() => undefined);
      const { status, attributes } = spanOf(observed, 'run job');
      expect(status.code).toBe(SpanStatusCode.UNSET);
      expect(attributes).toMatchObject({ 'gatekeeper.outcome': 'skipped', 'gatekeeper.skip.reason': 'no-permit' });
      expect(spanOf(observed, 'acquire job').attributes).toMatchObject({
        'gatekeeper.outcome': 'denied',
        'gatekeeper.denial.reason': 'no-permit',
        'gatekeeper.acquirer': 'app1',
      });
    },
  );

  it('of a leader is a span, but not the whole term', async () => {
    const observed = observe();
    const { nodes, gatekeeper } = await start(observed, { leadership: { enabled: true, lease: '5s' } });
    await gatekeeper.cluster.initialize();
    await nodes.time.advance(1000);
    await gatekeeper.cluster.scope().run('poll', workOf(observed));
    const run = spanOf(observed, 'run poll');
    expect(run.attributes['gatekeeper.permit.token']).toBe(gatekeeper.cluster.scope().term!.token);
    expect(spanOf(observed, 'work').parentSpanContext?.spanId).toBe(run.spanContext().spanId);
    expect(observed.spans).toHaveLength(2);
  });
});

describe('a call for a permit', () => {
  it('that the store does not answer has the error', async () => {
    const observed = observe();
    const { node, gatekeeper } = await start(observed);
    node.store.script = () => Promise.reject(new StoreUnavailableError('cut'));
    await gatekeeper.tryAcquire('job').catch(() => undefined);
    expect(spanOf(observed, 'acquire job')).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'gatekeeper.outcome': 'denied', 'gatekeeper.denial.reason': 'unavailable' },
    });
  });

  it('has the whole name of a semaphore that no code defines in its attribute, but not in its name', async () => {
    const observed = observe();
    const { gatekeeper } = await start(observed);
    await gatekeeper.tryAcquire('import-acme', { duration: '5s' });
    expect(spanOf(observed, 'acquire _OTHER').attributes['gatekeeper.semaphore.name']).toBe('import-acme');
  });
});

describe('a task', () => {
  const submitAndRun = async (observed: Observed, handler: () => unknown) => {
    const { nodes, gatekeeper } = await start(observed);
    const options = { lease: 10_000, keepAlive: true, concurrency: 1 };
    gatekeeper.tasks.handlers.handle('mail', handler, options);
    // Workers begin in a span of the application, and must not make all tasks its children.
    observed.tracerProvider.getTracer('app').startActiveSpan('boot', () => gatekeeper.tasks.start());
    await gatekeeper.tasks.submit(single('mail', '7'), 'to ada');
    await nodes.time.advance(15_000);
  };

  it('is a consumer span of its own trace, and the parent of the spans of its handler', async () => {
    const observed = observe();
    await submitAndRun(observed, workOf(observed));
    const task = spanOf(observed, 'process mail');
    expect([task.kind, task.parentSpanContext]).toEqual([SpanKind.CONSUMER, undefined]);
    expect(task.attributes).toMatchObject({
      'messaging.system': 'gatekeeper',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'mail',
      'messaging.message.id': 'mail:7',
      'gatekeeper.task.token': expect.any(Number),
      'gatekeeper.outcome': 'completed',
    });
    expect(spanOf(observed, 'work').parentSpanContext?.spanId).toBe(task.spanContext().spanId);
  });

  it('has a link to the span of its submission, also in the next attempt', async () => {
    const observed = observe();
    await submitAndRun(observed, () => Promise.reject(new Error('no address')));
    const { traceId, spanId } = spanOf(observed, 'send mail').spanContext();
    const links = observed.spansNamed('process mail').map((span) => span.links.map(({ context }) => context));
    expect(links.length).toBeGreaterThan(1);
    for (const link of links) expect(link).toMatchObject([{ traceId, spanId, isRemote: true }]);
    expect(observed.spansNamed('process mail')[0]!.spanContext().traceId).not.toBe(traceId);
  });

  const ways: [string, string, (tasks: Tasks) => unknown][] = [
    ['a sub-task', 'page', (tasks) => tasks.submit(single('book', '1'))],
    ['a tick of a schedule', 'cron.often', (tasks) => tasks.schedules.add('often', '* * * * * *', () => 'ran')],
    ['a task of a queue', 'page', (tasks) => tasks.submitSerial('ada', single('page', '1'))],
    ['a unique task', 'page', (tasks) => tasks.submit(single('page', '1'), 1, UNIQUE)],
  ];
  it.each(ways)('%s has such a link, too', async (_name, type, submit) => {
    const observed = observe();
    const { nodes, gatekeeper } = await start(observed);
    const { tasks } = gatekeeper;
    tasks.handlers.handle('book', (book) => book.submit(single('page', '1')));
    tasks.handlers.handle('page', () => 'printed');
    tasks.start();
    await submit(tasks);
    await nodes.time.advance(1500);
    const [task] = observed.spansNamed(`process ${type}`);
    const sent = observed.spansNamed(`send ${type}`).map((span) => span.spanContext().spanId);
    expect(sent).toContain(task!.links[0]!.context.spanId);
  });

  it('that runs again after a unique submission has a link to that one', async () => {
    const observed = observe();
    const { nodes, gatekeeper } = await start(observed);
    const { tasks } = gatekeeper;
    const work = openEnd();
    tasks.handlers.handle('page', work.work);
    tasks.start();
    await tasks.submit(single('page', '1'), 1, UNIQUE);
    await work.started;
    await tasks.submit(single('page', '1'), 2, UNIQUE);
    work.end();
    await nodes.time.advance(1000);
    const sent = observed.spansNamed('send page').map((span) => span.spanContext().spanId);
    const linked = observed.spansNamed('process page').map(({ links }) => links[0]!.context.spanId);
    expect([sent.length, linked]).toEqual([2, sent]);
  });

  it('is submitted in a producer span', async () => {
    const observed = observe();
    await submitAndRun(observed, () => 'sent');
    const submit = spanOf(observed, 'send mail');
    expect(submit.kind).toBe(SpanKind.PRODUCER);
    expect(submit.attributes).toMatchObject({ 'messaging.message.id': 'mail:7', 'gatekeeper.outcome': 'created' });
  });

  it('whose handler fails has the error', async () => {
    const observed = observe();
    await submitAndRun(observed, () => Promise.reject(new Error('no address')));
    const [first] = observed.spansNamed('process mail');
    expect(first!.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no address' });
  });
});

it.each(['onStart', 'onEnd'])(
  'does not change the outcome of a call when a span processor throws in %s',
  async (method) => {
    const problems: unknown[] = [];
    const noted = (...problem: unknown[]) => void problems.push(problem);
    diag.setLogger({ error: noted, warn: noted, info: noted, debug: noted, verbose: noted });
    const processor = {
      onStart: () => undefined,
      onEnd: () => undefined,
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
      [method]() {
        throw new Error('no room');
      },
    };
    const observed = observe();
    const tracerProvider = new BasicTracerProvider({ spanProcessors: [processor] });
    const { gatekeeper } = await start(observed, { telemetry: observed.telemetry({ tracerProvider }) });
    expect(await gatekeeper.tryAcquire('job')).toMatchObject({ semaphore: 'job', isHeld: true });
    const failing = gatekeeper.run('other', () => Promise.reject(new Error('its own')), { duration: '10s' });
    await expect(failing).rejects.toThrow('its own');
    diag.disable();
    expect(problems).toContainEqual([expect.stringContaining('span processor'), new Error('no room')]);
  },
);

it('makes no spans with traces: false', async () => {
  const observed = observe();
  const nodes = cluster();
  const { gatekeeper } = await nodes.node({ telemetry: observed.telemetry({ traces: false }) });
  await gatekeeper.run('job', () => 'done');
  expect(observed.spans).toEqual([]);
  expect(await observed.valuesOf('gatekeeper.permit.grants')).toEqual(['1 ["job"]']);
});
