import { single } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../support/apps.js';
import { useObserved } from '../telemetry/observed.js';
import { expectProblem } from './api.contract.js';
import { changesByHand } from './changes-by-hand.js';
import { type CallOptions, type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const HOUR = 3_600_000;
const LONG = 'a-token-with-long-leases-0123456789';
const at = (id: string, verb?: string) => `/api/tasks/${encodeURIComponent(id)}${verb === undefined ? '' : `/${verb}`}`;
const observe = useObserved();

/** A task that a program has claimed, and its calls about it. */
async function claimed(console: Console, body: object = {}, options: CallOptions = {}) {
  await partsOf(console.gatekeeper).tasks.submit(single('mail', 'one'));
  const answer = await console.send('POST', '/api/tasks/claim', { types: ['mail'], ...body }, options);
  const { id, token } = answer.json.tasks[0];
  const call = (verb: string, more: object = {}, other = options) =>
    console.send('POST', at(id, verb), { token, ...more }, other);
  return { id, token, call, key: answer.json.key as string | undefined };
}

describe.each(PLATFORMS)('the lease of a program on %s', (platform) => {
  const start = useConsoles();

  it('is an hour at most, in a claim and in a renewal, and an option of the token says otherwise', async () => {
    const tokens = [...SETTINGS.tokens!, { token: LONG, name: 'long', role: 'operate', maxLease: '2h' } as const];
    const console = await start({ platform, console: { tokens } });
    const claim = (lease: number | string, options = {}) =>
      console.send('POST', '/api/tasks/claim', { types: ['none'], lease }, options);
    for (const lease of ['365d', '61m', HOUR + 1]) {
      const refused = await claim(lease);
      expectProblem(refused, 400, 'invalid-options');
      expect(refused.json.faults).toEqual([expect.stringContaining(`longer than ${HOUR} ms`)]);
    }
    for (const [lease, options] of [['1h'], ['2h', { token: LONG }]] as const)
      expect(await claim(lease, options)).toMatchObject({ status: 200 });
    expectProblem(await claim('3h', { token: LONG }), 400, 'invalid-options');
    const { call } = await claimed(console);
    expectProblem(await call('renew', { lease: '365d' }), 400, 'invalid-options');
    expect(await call('renew', { lease: '1h' })).toMatchObject({ status: 200 });
  });
});

describe.each(PLATFORMS)('the claim of a program on %s', (platform) => {
  const start = useConsoles();
  const boot = () => start({ platform });

  it('ends with a cancel, and its calls are refused', async () => {
    const console = await boot();
    const { id, call } = await claimed(console, { lease: '1h' });
    const cancelled = await console.send('POST', at(id, 'cancel'), { reason: 'wrong' }, { token: TOKENS.operate });
    expect(cancelled.json).toMatchObject({ outcome: 'cancelled' });
    expect((await console.get(at(id))).json.task).toMatchObject({ state: 'cancelled' });
    for (const verb of ['renew', 'complete']) expectProblem(await call(verb), 409, 'task-cancelled');
    expect(await call('give-back')).toMatchObject({ status: 200, json: { state: 'cancelled' } });
    expectProblem(await call('give-back', {}, { token: TOKENS.operate }), 409, 'lease-expired');
    expect((await partsOf(console.gatekeeper).tasks.submit(single('mail', 'one'))).outcome).toBe('created');
  });

  it('ends with the cancel of its group', async () => {
    const console = await boot();
    await console.send('POST', '/api/tasks', { id: 'mail[june]#1', total: 1 });
    await console.send('POST', '/api/tasks/claim', { types: ['mail'], lease: '1h' });
    await console.send('POST', '/api/task-groups/mail%5Bjune%5D/cancel', {});
    await until(async () => (await console.get(at('mail[june]#1'))).json.task.state === 'cancelled');
  });

  it('ends with a release by an operator, who stands in the audit log, and another worker gets the task', async () => {
    const console = await boot();
    const { id, call, token } = await claimed(console, { lease: '1h' });
    const release = () => console.send('POST', at(id, 'release'), { reason: 'it hangs' }, { token: TOKENS.operate });
    expect((await release()).json).toMatchObject({ id, outcome: 'released' });
    expectProblem(await call('renew'), 409, 'lease-expired');
    const again = await console.send('POST', '/api/tasks/claim', { types: ['mail'] }, { token: TOKENS.operate });
    expect(again.json.tasks).toMatchObject([{ id, attempt: 1 }]);
    expect(again.json.tasks[0].token).toBeGreaterThan(token);
    for (const verb of ['renew', 'complete', 'give-back']) expectProblem(await call(verb), 409, 'lease-expired');
    const audit = async () => changesByHand((await console.get('/api/audit')).json.entries);
    await until(async () => (await audit()).length > 0);
    expect(await audit()).toMatchObject([{ action: 'release-task', by: 'otto', reason: 'it hangs', task: id }]);
  });

  it('is refused a release if there is none, or a node has it', async () => {
    const console = await boot();
    const { tasks } = partsOf(console.gatekeeper);
    expectProblem(await console.send('POST', at('mail:none', 'release'), {}), 404, 'unknown-task');
    await tasks.submit(single('report', 'one'));
    expectProblem(await console.send('POST', at('report:one', 'release'), {}), 409, 'release-refused');
    tasks.handlers.handle('report', ({ signal }) => new Promise((end) => signal.addEventListener('abort', end)));
    tasks.handlers.start();
    await until(async () => (await tasks.find('report:one'))?.state === 'running');
    expectProblem(await console.send('POST', at('report:one', 'release'), {}), 409, 'release-refused');
    await tasks.cancel('report:one');
  });

  it('ends by its own token only, and counts once', async () => {
    const console = await boot();
    const { id, call } = await claimed(console);
    const { programs } = partsOf(console.gatekeeper).tasks.work;
    expect(await call('complete')).toMatchObject({ status: 200 });
    expect(await call('complete')).toMatchObject({ status: 200, json: { id, state: 'completed' } });
    expectProblem(await call('complete', {}, { token: TOKENS.operate }), 409, 'lease-expired');
    expect(programs.of('mail')).toEqual({ completed: 1, failed: 0 });
  });
});

describe.each(PLATFORMS)('the types that programs name on %s', (platform) => {
  const start = useConsoles();

  it('are limited for each token by itself', async () => {
    const console = await start({ platform });
    const { external } = await partsOf(console.gatekeeper).tasks.open();
    external.expectTypes(
      'dora',
      Array.from({ length: 1000 }, (_, index) => `made-up-${index}`),
    );
    const claim = (options = {}) => console.send('POST', '/api/tasks/claim', { types: ['real'] }, options);
    expectProblem(await claim(), 429, 'too-many-types');
    expect(await claim({ token: TOKENS.operate })).toMatchObject({ status: 200 });
  });

  it('are in the metrics if a node handles them', async () => {
    const observed = observe();
    const console = await start({ platform, gatekeeper: { telemetry: observed.telemetry() } });
    const { tasks } = partsOf(console.gatekeeper);
    for (let index = 0; index < 210; index++) await console.send('POST', '/api/tasks', { id: `made-up-${index}:1` });
    tasks.handlers.handle('mail', () => undefined);
    await console.send('POST', '/api/tasks', { id: 'mail:1' });
    const submitted = await observed.valuesOf('gatekeeper.task.submitted');
    expect(submitted).toEqual(['210 ["_OTHER","created"]', '1 ["mail","created"]']);
  });
});

describe.each(PLATFORMS)('requests without a name on %s', (platform) => {
  const start = useConsoles();
  const guard = (gatekeeperUser?: string) => ({
    canActivate: (context: { switchToHttp(): { getRequest(): object } }) => {
      Object.assign(context.switchToHttp().getRequest(), { gatekeeperRole: 'define', gatekeeperUser });
      return true;
    },
  });

  it.each([
    ['insecure', { insecure: true }],
    ['guards without a user', { guards: [guard()] }],
    ['guards with a user that looks like one', { guards: [guard('a visitor without a name#x')] }],
  ])('share no claims: %s', async (_, settings) => {
    const console = await start({ platform, console: settings });
    const anonymous = { token: null };
    const one = await claimed(console, {}, anonymous);
    expectProblem(await one.call('complete'), 400, 'invalid-options');
    expectProblem(await one.call('complete', { key: 'another-key-0123456789' }), 409, 'lease-expired');
    expect((await console.get(at(one.id), anonymous)).text).not.toContain(one.key!);
    expect(await one.call('renew', { key: one.key })).toMatchObject({ status: 200 });
    expect(await one.call('complete', { key: one.key })).toMatchObject({ status: 200 });
    expectProblem(await one.call('complete', { key: 'another-key-0123456789' }), 409, 'lease-expired');
  });

  it('may claim with a key of their own', async () => {
    const console = await start({ platform, console: { insecure: true } });
    const key = 'a-secret-of-this-worker';
    const { call } = await claimed(console, { key }, { token: null });
    expect(await call('complete', { key })).toMatchObject({ status: 200 });
  });

  it('need no key if they have a name', async () => {
    const console = await start({ platform, console: { guards: [guard('ann')] } });
    const { call, key } = await claimed(console, {}, { token: null });
    expect(key).toBeUndefined();
    expect(await call('complete')).toMatchObject({ status: 200 });
  });
});
