import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, TOKENS, useConsoles } from './consoles.js';
import { failingStore } from './failing-store.js';
import { stopAllowances } from './stopped-allowances.js';

const COUNT = 3000;
const definitions = Array.from({ length: COUNT }, (_, index) => ({ name: `job-${index}`, duration: '10s' }));

describe.each(PLATFORMS)('the limit of changes of many on %s', (platform) => {
  const start = useConsoles();
  afterEach(() => void jest.restoreAllMocks());
  const boot = async (store?: ReturnType<typeof failingStore>['definition']): Promise<Console> => {
    const console = await start({ platform, gatekeeper: { definitions }, ...(store && { store }) });
    await until(async () => (await console.gatekeeper.state()).semaphores.length === COUNT);
    return console;
  };

  it('keeps an earlier entry of the audit log readable after four calls over 3,000 semaphores', async () => {
    const { send, get } = await boot();
    await send('PATCH', '/api/semaphores/job-7', { permits: 2, reason: 'before the attack' });
    const move = (groupPattern: string) =>
      send('POST', '/api/migrations', { to: { groupPattern }, dryRun: false }, { token: TOKENS.operate });
    stopAllowances();
    const answers = [];
    for (const pattern of ['a', 'b', 'c', 'd']) answers.push(await move(pattern));
    await until(async () => (await get('/api/audit?limit=1000')).json.entries.length === 1000);
    const { entries } = (await get('/api/audit?semaphore=job-7')).json;
    expect(entries.map(({ reason }: { reason?: string }) => reason)).toContain('before the attack');
    expect(answers[0]!.json.steps).toHaveLength(COUNT);
    for (const refused of answers.slice(1)) {
      expectProblem(refused, 429, 'too-many-changes');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    }
  });

  it('lets a pause through, and the resuming of single ones, while it refuses to resume all', async () => {
    const { send } = await boot();
    const operate = (path: string) => send('POST', path, {}, { token: TOKENS.operate });
    stopAllowances();
    expect((await operate('/api/pause')).json.done).toHaveLength(COUNT);
    const refused = await operate('/api/resume');
    expect([refused.status, refused.json.code]).toEqual([429, 'too-many-changes']);
    expect((await operate('/api/semaphores/job-7/resume')).status).toBe(200);
    expect((await operate('/api/pause')).json.done).toEqual(['job-7']);
    expect((await send('POST', '/api/resume')).json.done).toHaveLength(COUNT);
  });

  it('counts only what the store has taken', async () => {
    const store = failingStore();
    const { send, gatekeeper } = await boot(store.definition);
    await gatekeeper.definitions.pauseAll();
    store.loseQuorum();
    expect((await send('POST', '/api/resume')).status).toBe(503);
    store.giveBack();
    expect((await send('POST', '/api/resume')).json.done).toHaveLength(COUNT);
  });
});
