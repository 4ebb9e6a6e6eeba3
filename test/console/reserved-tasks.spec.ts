import { ChangeRate } from '../../lib/console/access/change-rate.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, TOKENS, useConsoles } from './consoles.js';
import { stopAllowances } from './stopped-allowances.js';

const TICK = 'cron.report:2999-01-01T03:00:00Z';
const at = (id: string, verb: string) => `/api/tasks/${encodeURIComponent(id)}/${verb}`;
const submit = ({ send }: Console, body: object, options = {}) => send('POST', '/api/tasks', body, options);
const claim = ({ send }: Console, types: readonly string[], options = {}) =>
  send('POST', '/api/tasks/claim', { types, max: 20 }, options);

describe.each(PLATFORMS)('ids that the package makes, over HTTP on %s', (platform) => {
  const start = useConsoles();
  const boot = () => start({ platform });

  it.each([
    [{ id: TICK }],
    [{ id: TICK, runAt: 253_402_300_799_999 }],
    [{ id: 'cron.report:by-hand' }],
    [{ id: 'cron.none:1' }],
    [{ id: 'cron.report[june]#1', total: 1 }],
    [{ id: 'cron.report:x', unique: { key: '2999-01-01T03:00:00Z' } }],
  ])('of schedules are refused for a submission, which leaves nothing: %j', async (body) => {
    const console = await boot();
    expectProblem(await submit(console, body), 400, 'reserved-name');
    expect(await partsOf(console.gatekeeper).tasks.find(body.id)).toBeUndefined();
  });

  it.each(['import[june]#join', 'import:^x/1', 'import[^x/june]#1', '#import[june]', '@report', ':1', '[^x]#1'])(
    'of joins, sub-tasks and records are refused for a submission: %s',
    async (id) => {
      expectProblem(await submit(await boot(), { id }), 400, 'invalid-options');
    },
  );

  it('of ticks are not claimed, nor ended, by a program', async () => {
    const console = await boot();
    const { tasks } = partsOf(console.gatekeeper);
    await tasks.submit({ type: 'cron.report', id: 'cron.report:by-hand' });
    expectProblem(await claim(console, ['mail', 'cron.report']), 400, 'reserved-name');
    for (const verb of ['renew', 'complete', 'give-back'])
      expectProblem(await console.send('POST', at('cron.report:by-hand', verb), { token: 1 }), 400, 'reserved-name');
    expect(await tasks.find('cron.report:by-hand')).toMatchObject({ state: 'waiting' });
  });

  it('of the tasks that run the handlers of groups are not claimed by a program', async () => {
    expectProblem(await claim(await boot(), ['import#join']), 400, 'invalid-options');
  });
});

describe.each(PLATFORMS)('submissions and claims over HTTP on %s', (platform) => {
  const start = useConsoles();
  const boot = () => start({ platform });
  const auditOf = async ({ get }: Console) => {
    const { entries } = (await get('/api/audit')).json as { entries: Record<string, unknown>[] };
    return entries.filter(({ action }) => action === 'submit-tasks' || action === 'claim-tasks');
  };

  it('stand in the audit log at once, and those of the next minute are counted', async () => {
    const console = await boot();
    for (const id of ['mail:1', 'mail:2', 'mail:3', 'mail:3', 'report:1']) await submit(console, { id });
    await claim(console, ['mail', 'none']);
    await claim(console, ['report'], { token: TOKENS.operate });
    await until(async () => (await auditOf(console)).length === 4);
    const first = (action: string, type: string, by: string, count: number) => {
      return { action, semaphore: `task:${type}`, by, count, task: `${type}:1` };
    };
    expect((await auditOf(console)).toReversed()).toMatchObject([
      first('submit-tasks', 'mail', 'dora', 1),
      first('submit-tasks', 'report', 'dora', 1),
      first('claim-tasks', 'mail', 'dora', 3),
      first('claim-tasks', 'report', 'otto', 1),
    ]);
    const written: object[] = [];
    partsOf(console.gatekeeper).context.events.subscribe((event) => {
      if (event.type === 'audited') written.push(event.entry);
    });
    await console.app.close();
    expect(written).toMatchObject([
      { action: 'submit-tasks', semaphore: 'task:mail', by: 'dora', count: 2, task: 'mail:2' },
    ]);
  });

  it('of many types fill the log with few entries', async () => {
    const console = await boot();
    for (let index = 0; index < 60; index++) await submit(console, { id: `type-${index}:1` });
    await until(async () => (await auditOf(console)).some(({ semaphore }) => semaphore === 'task:*'));
    expect(await auditOf(console)).toHaveLength(21);
  });

  it('of one token do not use up those of another one', async () => {
    const console = await boot();
    const goOn = stopAllowances();
    const rate = console.app.get(ChangeRate, { strict: false });
    for (let call = 0; call < 10_000; call++) rate.noteTaskCall({ user: 'dora', role: 'define' });
    for (const refused of [await claim(console, ['none']), await submit(console, { id: 'mail:1' })]) {
      expectProblem(refused, 429, 'too-many-tasks');
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    expect(await claim(console, ['none'], { token: TOKENS.operate })).toMatchObject({ status: 200 });
    goOn();
  });
});
