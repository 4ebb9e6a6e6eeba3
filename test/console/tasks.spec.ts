import { memory } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../support/apps.js';
import { useObserved } from '../telemetry/observed.js';
import { expectProblem } from './api.contract.js';
import { changesByHand } from './changes-by-hand.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles, willHangUp } from './consoles.js';

const MAIL = { id: 'mail:order-7', data: { to: 'Ada Lovelace' } };
const at = (id: string, verb?: string) => `/api/tasks/${encodeURIComponent(id)}${verb === undefined ? '' : `/${verb}`}`;
const submit = ({ send }: Console, body: object = MAIL) => send('POST', '/api/tasks', body);
const claim = ({ send }: Console, body: object = {}, options = {}) =>
  send('POST', '/api/tasks/claim', { types: ['mail'], ...body }, options);

const observe = useObserved();

describe.each(PLATFORMS)('tasks over HTTP on %s', (platform) => {
  const start = useConsoles();
  const boot = (options = {}) => start({ platform, ...options });

  /** A console with a task that is claimed. */
  async function working() {
    const console = await boot();
    await submit(console);
    const [task] = (await claim(console)).json.tasks;
    return { ...console, task, call: (verb: string, body: object) => console.send('POST', at(task.id, verb), body) };
  }

  it('are submitted, claimed, renewed and completed, each by another node', async () => {
    const store = memory();
    const [a, b] = [await boot({ store }), await boot({ store })];
    expect((await submit(a)).json).toEqual({ id: MAIL.id, outcome: 'created', because: expect.any(String) });
    expect((await submit(b)).json).toMatchObject({ outcome: 'known' });
    const { status, json } = await claim(b, { max: 5, lease: '1m' });
    expect([status, json]).toMatchObject([
      200,
      { now: expect.any(Number), tasks: [{ ...MAIL, attempt: 1 }], denied: [] },
    ]);
    const [{ token, remaining }] = json.tasks;
    expect([remaining > 50_000, remaining < 70_000]).toEqual([true, true]);
    expect((await a.get(at(MAIL.id))).json).toMatchObject({
      task: { state: 'running', lease: { instance: 'http:dora' }, data: MAIL.data },
      explanation: { reason: 'running', sentence: expect.stringContaining('the program "http:dora" works on') },
    });
    const renewed = await a.send('POST', at(MAIL.id, 'renew'), {
      token,
      lease: '1m',
      progress: { done: 1, total: 3, note: 'ü' },
    });
    expect(renewed).toMatchObject({ status: 200, json: { remaining: expect.any(Number) } });
    expect((await b.get(at(MAIL.id))).json.task.progress).toMatchObject({ done: 1, total: 3, note: 'ü' });
    const completed = await b.send('POST', at(MAIL.id, 'complete'), { token, result: [1, 'ü'] });
    expect(completed).toMatchObject({ status: 200, json: { id: MAIL.id, state: 'completed' } });
    expect((await a.get(at(MAIL.id))).json.task).toMatchObject({ state: 'completed', result: [1, 'ü'] });
    expect((await claim(a)).json.tasks).toEqual([]);
  });

  it('give the trace of their submission to the program that claims them', async () => {
    const observed = observe();
    const console = await boot({ gatekeeper: { telemetry: observed.telemetry() } });
    await submit(console);
    const [{ traceparent }] = (await claim(console)).json.tasks;
    const { traceId, spanId } = observed.spansNamed('send _OTHER')[0]!.spanContext();
    expect(traceparent).toBe(`00-${traceId}-${spanId}-01`);
  });

  it('are members of groups, whose handler runs on a node', async () => {
    const console = await boot();
    const { tasks } = partsOf(console.gatekeeper);
    const sums: number[] = [];
    tasks.handlers.onGroupFinished<number>('mail', async ({ members }) => {
      for await (const { result } of members()) sums.push(result!);
    });
    tasks.handlers.start();
    await submit(console, { id: 'mail[june]#1' });
    await submit(console, { id: 'mail[june]#2', total: 2 });
    const { json } = await claim(console, { max: 2 });
    expect(json.tasks.map(({ group }: any) => group)).toEqual([1, 2].map((number) => ({ name: 'june', number })));
    for (const { id, token, group } of json.tasks) {
      await console.send('POST', at(id, 'complete'), { token, result: group.number });
    }
    await until(() => sums.length === 2);
    expect(sums).toEqual([1, 2]);
  });

  it.each([
    ['fail', { message: 'no' }, 'delayed'],
    ['fail', { message: 'no', name: 'IOError', stack: 'at x', retryable: false }, 'invalid'],
    ['retry-later', { after: '5m' }, 'delayed'],
    ['give-back', {}, 'waiting'],
  ])('end an attempt with %s %j', async (verb, body, state) => {
    const { task, call, get } = await working();
    expect((await call(verb, { ...body, token: task.token })).json).toEqual({ id: task.id, state });
    expect((await get(at(task.id))).json.task).toMatchObject({ state, attempts: verb === 'fail' ? 1 : 0 });
    expectProblem(await call('complete', { token: task.token }), 409, 'lease-expired');
  });

  it.each(['renew', 'complete', 'fail', 'retry-later', 'give-back'])('refuse a stale token: %s', async (verb) => {
    const { task, send } = await working();
    const body = { message: 'x', after: 1 };
    const given = verb === 'fail' ? { message: 'x' } : verb === 'retry-later' ? { after: body.after } : {};
    for (const token of [task.token - 1, task.token + 1, 1]) {
      expectProblem(await send('POST', at(task.id, verb), { ...given, token }), 409, 'lease-expired');
    }
    expectProblem(await send('POST', at('mail:none', verb), { ...given, token: 1 }), 409, 'lease-expired');
  });

  it('refuse the token of a task to the token of another visitor', async () => {
    const { task, send } = await working();
    const other = { token: TOKENS.operate };
    expectProblem(await send('POST', at(task.id, 'complete'), { token: task.token }, other), 409, 'lease-expired');
  });

  it('wait for one up to a minute', async () => {
    const store = memory();
    const [a, b] = [await boot({ store }), await boot({ store })];
    const waiting = claim(a, { types: ['letter', 'mail'], wait: '20s' });
    await until(() => waitingOn(a) === 1);
    await submit(b);
    expect((await waiting).json.tasks).toMatchObject([MAIL]);
  });

  it('leave nothing claimed if the worker has gone away', async () => {
    const console = await boot();
    const quit = willHangUp(console, {
      method: 'POST',
      path: '/api/tasks/claim',
      body: { types: ['mail'], wait: '20s' },
    });
    await until(() => waitingOn(console) === 1);
    expect(await quit()).toBe('gone');
    await until(() => waitingOn(console) === 0);
    await submit(console);
    await until(async () => (await claim(console)).json.tasks.length === 1);
  });

  it('are cancelled and tried again by operators, who stand in the audit log', async () => {
    const { task, call, get } = await working();
    expect((await call('cancel', { reason: 'wrong' })).json).toMatchObject({ id: task.id, outcome: 'cancelled' });
    const refused = await call('renew', { token: task.token });
    expectProblem(refused, 409, 'task-cancelled');
    expect(refused.json.detail).toContain('wrong');
    expectProblem(await call('complete', { token: task.token }), 409, 'task-cancelled');
    expect((await call('cancel', {})).json).toMatchObject({ outcome: 'ended' });
    expect((await call('retry', { reason: 'again' })).json).toMatchObject({ outcome: 'retried' });
    expectProblem(await call('retry', {}), 409, 'retry-refused');
    const audit = async () => changesByHand((await get('/api/audit?semaphore=task:mail')).json.entries);
    await until(async () => (await audit()).length === 2);
    expect(await audit()).toMatchObject([
      { action: 'retry-task', by: 'dora', reason: 'again', task: task.id },
      { action: 'cancel-task', by: 'dora', reason: 'wrong', task: task.id },
    ]);
  });

  it.each([
    ['GET', undefined],
    ['POST', 'cancel'],
    ['POST', 'retry'],
  ])('that are not there are reported: %s %s', async (method, verb) => {
    const { get, send } = await boot();
    const path = at('mail:none', verb);
    expectProblem(method === 'GET' ? await get(path) : await send(method, path), 404, 'unknown-task');
  });

  it('show data, results and stacks to those alone who may claim tasks', async () => {
    const { task, call, get } = await working();
    await call('fail', { token: task.token, message: 'no', stack: 'at secret' });
    const [viewer, operator] = [
      await get(at(task.id), { token: TOKENS.view }),
      await get(at(task.id), { token: TOKENS.operate }),
    ];
    expect(viewer.json.task).toMatchObject({ state: 'delayed', lastError: { message: 'no' } });
    expect(viewer.text).not.toMatch(/Lovelace|secret/);
    expect(operator.json.task).toMatchObject({ data: MAIL.data, lastError: { stack: 'at secret' } });
  });

  it('have any name that fits: it is encoded in the path', async () => {
    const console = await boot();
    const names = ['a/b', '100%', 'ü 😀', '../x', 'a?b#c', `${'x'.repeat(199)}/`, '^'.repeat(3).replace('^', 'a')];
    for (const name of names) {
      const id = `mail:${name}`;
      expect([name, (await submit(console, { id })).status]).toEqual([name, 200]);
      expect((await console.get(at(id))).json.task.id).toBe(id);
      const [task] = (await claim(console)).json.tasks;
      expect((await console.send('POST', at(id, 'complete'), { token: task.token })).json.state).toBe('completed');
    }
  });

  it.each([
    ['an id without a type', { id: 'order-7' }, 'id'],
    ['an id of a group without a number', { id: 'mail[june]' }, 'id'],
    ['an id that is too long', { id: `mail:${'x'.repeat(201)}` }, 'name'],
    ['an id that is far too long', { id: `mail:${'x'.repeat(600)}` }, 'id'],
    ['an id with a line break', { id: 'mail:a\nb' }, 'id'],
    ["a sub-task's id", { id: 'mail:^abc/x' }, 'name'],
    ['a task of a handler', { id: 'mail[june]#join' }, 'id'],
    ['a number that is too high', { id: 'mail[june]#1000001' }, 'number'],
    ['a total that is too low', { id: 'mail[june]#3', total: 2 }, 'number'],
    ['a total without a group', { id: 'mail:a', total: 2 }, 'total'],
    ['data that are too large', { ...MAIL, data: 'x'.repeat(65_535) }, 'data'],
    ['two times', { ...MAIL, runAt: 1, delay: 1 }, 'delay'],
    ['a huge time', { ...MAIL, runAt: 1e300 }, 'runAt'],
    ['a retention that is too short', { ...MAIL, retention: '1s' }, 'retention'],
    ['a priority that is none', { ...MAIL, priority: 'urgent' }, 'priority'],
    ['an unknown field', { ...MAIL, name: 'x' }, 'name'],
  ])('are not submitted with %s', async (_, body, field) => {
    const answer = await submit(await boot(), body);
    expectProblem(answer, 400, 'invalid-options');
    expect(answer.json.faults.join()).toContain(field);
  });

  it.each([
    ['no type', { types: [] }, 'types'],
    ['a type that is none', { types: ['a:b'] }, 'types'],
    ['too many types', { types: Array.from({ length: 21 }, (__, index) => `t${index}`) }, 'types'],
    ['too many tasks', { max: 21 }, 'max'],
    ['none', { max: 0 }, 'max'],
    ['a lease that is too short', { lease: 10 }, 'lease'],
    ['too long a wait', { wait: '2m' }, 'wait'],
  ])('are not claimed with %s', async (_, body, field) => {
    const answer = await claim(await boot(), body);
    expectProblem(answer, 400, 'invalid-options');
    expect(answer.json.faults.join()).toContain(field);
  });

  it.each([['1'], [1.5], [-1], [0], [1e300], [null], [undefined]])('are not ended with the token %j', async (token) => {
    const { call } = await working();
    expectProblem(await call('complete', { token }), 400, 'invalid-options');
  });

  it('stay with the worker whose result is too large', async () => {
    const { task, call, get } = await working();
    expectProblem(await call('complete', { token: task.token, result: 'x'.repeat(70_000) }), 400, 'invalid-options');
    expect((await get(at(task.id))).json.task.state).toBe('running');
  });

  it('are limited like those of nodes', async () => {
    const console = await boot({ gatekeeper: { definitions: [{ name: 'task:mail', duration: '10s' }] } });
    await submit(console);
    await submit(console, { id: 'mail:other' });
    const first = (await claim(console, { max: 2 })).json;
    expect([first.tasks.length, first.denied]).toMatchObject([1, [{ type: 'mail', reason: 'no-permit' }]]);
    expect(first.denied[0].freeIn).toBeGreaterThan(5000);
    const [task] = first.tasks;
    expect(task.remaining).toBeLessThan(10_000);
    const [holder] = (await console.gatekeeper.state()).semaphores[0]!.holders;
    await console.gatekeeper.definitions.revoke('task:mail', holder!.id);
    expectProblem(await console.send('POST', at(task.id, 'renew'), { token: task.token }), 409, 'permit-lost');
    expect((await console.send('POST', at(task.id, 'give-back'), { token: task.token })).json.state).toBe('waiting');
  });
});

describe('tasks over HTTP', () => {
  const start = useConsoles();

  it('are not limited in number per second, because they add nothing to the audit log', async () => {
    const console = await start({ console: SETTINGS });
    const statuses = new Set<number>();
    // Not all at once: a busy machine does not accept so many connections in time.
    for (let from = 0; from < 1100; from += 100) {
      const bodies = Array.from({ length: 100 }, (_, index) => ({ id: `mail:${from + index}` }));
      const answers = await Promise.all(bodies.map((body) => submit(console, body)));
      for (const { status } of answers) statuses.add(status);
    }
    expect(statuses).toEqual(new Set([200]));
  });
});

/** Claims that wait on a node. */
function waitingOn({ gatekeeper }: Console): number {
  return partsOf(gatekeeper).tasks.opened?.external.waiting ?? 0;
}
