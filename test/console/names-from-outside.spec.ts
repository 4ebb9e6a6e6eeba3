import { memory } from 'nestjs-gatekeeper';
import { SemaphoreDirectory } from '../../lib/core/permits/semaphore-directory.js';
import { createRecord, encodeRecord, parseDefinition } from '../../lib/core/decision/index.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, useConsoles } from './consoles.js';

const JOB = { name: 'job', duration: '10s' };
const MADE_UP = 3000;
/** Requests at one time. */
const AT_ONCE = 50;

/** All calls that bring a semaphore's name along. */
function callsFor({ get, send }: Console, name: string): (() => ReturnType<Console['get']>)[] {
  const path = `/api/semaphores/${encodeURIComponent(name)}`;
  return [
    () => get(`/api/explain/${encodeURIComponent(name)}`),
    () => get(path),
    () => send('POST', '/api/permits', { semaphore: name }),
    () => send('POST', '/api/permits', { semaphore: name, wait: 1 }),
    () => send('POST', '/api/permits/none/refresh', { semaphore: name, token: 1 }),
    () => send('POST', '/api/permits/none/release', { semaphore: name }),
    () => send('PATCH', path, { permits: 2 }),
    () => send('POST', `${path}/pause`),
    () => send('POST', `${path}/resume`),
    () => send('POST', `${path}/reset`),
    () => send('POST', `${path}/revoke`, { permitId: 'none' }),
    () => send('DELETE', path),
    () => send('POST', '/api/pause', { names: name }),
    () => get(`/api/history?semaphore=${encodeURIComponent(name)}`),
  ];
}

describe('names that a caller made up', () => {
  const start = useConsoles();
  afterEach(() => void jest.restoreAllMocks());

  it(`leave nothing in memory: ${MADE_UP} of them`, async () => {
    const of = jest.spyOn(SemaphoreDirectory.prototype, 'of');
    const console = await start({ gatekeeper: { definitions: [JOB] } });
    await console.send('POST', '/api/semaphores/job/pause');
    const directory = of.mock.contexts[0] as SemaphoreDirectory;
    of.mockRestore();
    const before = directory.size;
    let next = 0;
    const ask = async () => {
      while (next < MADE_UP) {
        const index = next++;
        const calls = callsFor(console, `made-up-${index}`);
        const { status } = await calls[index % calls.length]!();
        if (status >= 500) throw new Error(`call ${index % calls.length} was answered with ${status}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    expect(directory.size).toBe(before);
  });
});

describe.each(PLATFORMS)('reserved names over HTTP on %s', (platform) => {
  const start = useConsoles();

  it.each(['gatekeeper:sweep', 'leader:main', 'task:mail', 'shard:7'])(
    'are refused where they would be taken, released or defined: %s',
    async (name) => {
      const { send } = await start({ platform, gatekeeper: { definitions: [JOB] } });
      const refused = [
        // The definition of a type of tasks is its limit.
        ...(name.startsWith('task:') ? [] : [await send('POST', '/api/semaphores', { ...JOB, name })]),
        await send('POST', '/api/permits', { semaphore: name, definition: { duration: '10s' } }),
        await send('POST', '/api/permits', { semaphore: name }),
        await send('POST', '/api/permits', { semaphore: name, wait: 1000 }),
        await send('POST', '/api/permits/x/refresh', { semaphore: name, token: 1 }),
        await send('POST', '/api/permits/x/release', { semaphore: name }),
      ];
      for (const answer of refused) {
        expectProblem(answer, 400, 'reserved-name');
        expect(answer.json.faults).toEqual([expect.stringContaining('is reserved, take another name')]);
      }
    },
  );

  it('of types of tasks can be defined and paused, and only that', async () => {
    const { send } = await start({ platform, gatekeeper: { definitions: [JOB] } });
    const limit = { name: 'task:mail', permits: 3, duration: '10s' };
    expect(await send('POST', '/api/semaphores', limit)).toMatchObject({ status: 201, json: { revision: 1 } });
    expect(await send('POST', '/api/semaphores/task%3Amail/pause')).toMatchObject({ json: { pause: {} } });
    expectProblem(await send('POST', '/api/semaphores', { ...limit, name: 'task:no/type' }), 400, 'reserved-name');
  });

  it('are left alone by changes of many, though they match', async () => {
    const store = memory();
    const definition = parseDefinition({ name: 'gatekeeper:sweep', duration: '10s' }, 10);
    const text = encodeRecord(createRecord(definition, Date.now(), 'nonce'));
    await store.open().records.compareAndSet('semaphore:gatekeeper:sweep', undefined, text);
    const { send } = await start({ platform, store, gatekeeper: { definitions: [JOB] } });
    expectProblem(await send('POST', '/api/semaphores/gatekeeper%3Asweep/pause'), 400, 'reserved-name');
    expect((await send('POST', '/api/pause', { names: 'gatekeeper:.*|job' })).json.done).toEqual(['job']);
    const migration = { names: '.*', to: { groupPattern: 'b' }, dryRun: false };
    expect((await send('POST', '/api/migrations', migration)).json.steps).toMatchObject([{ name: 'job' }]);
    expect(await store.open().records.read('semaphore:gatekeeper:sweep')).toBe(text);
  });
});
