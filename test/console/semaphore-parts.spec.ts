import fc from 'fast-check';
import { systemClock } from '../../lib/core/async/node-clock.js';
import { inSlices } from '../../lib/core/async/slices.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { instanceOfProgram } from '../../lib/core/context/node-identity.js';
import { type Caller, OPERATIONS } from '../../lib/console/api/index.js';
import { changedParts } from '../../lib/console/api/changed-parts.js';
import { SETTINGS, useConsoles } from './consoles.js';
import { JOB, useCluster } from '../support/nodes.js';
import { removed as removedFrom } from '../support/removed.js';
import { crowdOf } from './scene/crowd.js';

const LIMITED = 'token-of-lisa-0123456789';
const KB = 1024;

interface Item {
  readonly name: string;
  readonly warnings: readonly { readonly code: string }[];
}

interface Parts {
  readonly known?: string;
  readonly changed: readonly { readonly part: number; readonly items: readonly Item[] }[];
}

describe('changedParts()', () => {
  it('lets a client follow any list by its changes', async () => {
    const list = fc.uniqueArray(fc.record({ name: fc.string({ maxLength: 3 }), value: fc.nat(2) }), {
      selector: ({ name }) => name,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 6 }), async (lists) => {
        const has = new Map<number, readonly { name: string; value: number }[]>();
        let known: string | undefined;
        for (const items of lists) {
          const answer = await inSlices(
            changedParts(items, known, (item) => item),
            systemClock,
          );
          for (const { part, items: now } of answer.changed) has.set(part, now);
          known = answer.known ?? known;
          const all = [...has.values()].flat();
          expect(new Set(all.map((item) => JSON.stringify(item)))).toEqual(
            new Set(items.map((item) => JSON.stringify(item))),
          );
          expect(all).toHaveLength(items.length);
        }
      }),
    );
  });

  it('tells no change while only what is left out changes, and all to a client that knows another form', async () => {
    const of = (remaining: number, known?: string) =>
      inSlices(
        changedParts([{ name: 'a', remaining }], known, ({ name }) => name),
        systemClock,
      );
    const { known, changed } = await of(5);
    expect(changed).toHaveLength(1);
    expect(await of(4, known)).toEqual({ changed: [] });
    expect((await of(4, 'short')).changed).toHaveLength(1);
  });
});

describe('the parts of the list of semaphores', () => {
  const start = useConsoles();
  const cluster = useCluster();

  it('are few after a change, and hold what the list holds', async () => {
    const { get, gatekeeper } = await start({ gatekeeper: { definitions: crowdOf(1000) } });
    const load = async (known?: string) => {
      const { text, json } = await get(`/api/semaphore-parts${known ? `?known=${known}` : ''}`);
      return { bytes: Buffer.byteLength(text), ...(json as Parts) };
    };
    const first = await load();
    const whole = await get('/api/semaphores');
    expect(first.changed.flatMap(({ items }) => items.map(({ name }) => name)).toSorted()).toEqual(
      whole.json.semaphores.map(({ name }: { name: string }) => name),
    );
    const calm = await load(first.known);
    expect([calm.changed, calm.known]).toEqual([[], undefined]);
    const { name } = crowdOf(1000)[77]!;
    const permit = await gatekeeper.acquire(name);
    const after = await load(first.known);
    expect(after.changed.map(({ items }) => items.some((each) => each.name === name))).toEqual([true]);
    expect(after.changed[0]!.items).toEqual(
      expect.arrayContaining([expect.objectContaining({ name, holders: [expect.objectContaining({ slot: 0 })] })]),
    );
    await removedFrom(gatekeeper, name, { by: 'test' });
    const removed = await load(after.known);
    // It stays in the list, because code uses the name: nothing runs until a reset.
    const items = removed.changed.flatMap((part) => part.items);
    expect(items.find((each) => each.name === name)?.warnings.map(({ code }) => code)).toEqual(['removed']);
    expect(removed.changed).toHaveLength(1);
    await permit.release();
    console.log(`bytes: all ${first.bytes}, unchanged ${calm.bytes}, after a change ${after.bytes}`);
    expect(Math.max(calm.bytes, after.bytes, removed.bytes)).toBeLessThan(50 * KB);
  });

  it.each([
    ['max-age=1', true],
    ['no-transform, MAX-AGE=60', true],
    ['max-age=0', false],
    ['no-cache, max-age=1', false],
    ['no-store', false],
  ] as const)(
    'are made of an overview of the last second only for a client that takes it: %s',
    async (wish, isRecent) => {
      const { get, gatekeeper } = await start();
      const recent = jest.spyOn(partsOf(gatekeeper).overviews, 'recent');
      for (const path of ['/api/semaphore-parts', '/api/semaphores', '/api/nodes']) {
        await get(path, { headers: { 'cache-control': wish } });
      }
      expect(recent).toHaveBeenCalledTimes(isRecent ? 3 : 0);
    },
  );

  it('tell the end of a permit that nobody gave back, although the record stays and no slot is free', async () => {
    const nodes = cluster();
    const definitions = [{ ...JOB, permits: 2, duration: '10s' }];
    const { gatekeeper } = await nodes.node({ definitions, definitionsDelay: 0, sweepInterval: '1h' });
    await nodes.time.advance(0);
    const { external } = partsOf(gatekeeper);
    const signal = new AbortController().signal;
    const take = (holder: string) => {
      const instance = instanceOfProgram(holder);
      return external.take({ semaphore: 'job', instance, holder, acquirer: holder }, { wait: 0, signal });
    };
    const load = (known?: string) =>
      OPERATIONS.semaphoreParts.run(partsOf(gatekeeper), { params: undefined, query: { known }, body: undefined }, {
        sees: undefined,
      } as Caller);
    await take('former');
    await nodes.time.advance(5000);
    await take('later');
    await gatekeeper.definitions.edit('job', { permits: 1 });
    const { known } = await load();
    await nodes.time.advance(5001);
    const { changed } = await load(known);
    const left = changed.flatMap(({ items }) => items.flatMap(({ holders }) => holders));
    expect(left.map(({ acquirer, remaining }) => [acquirer, remaining > 0])).toEqual([
      ['former', false],
      ['later', true],
    ]);
  });

  it('hold only names that the visitor may see', async () => {
    const tokens = [...SETTINGS.tokens!, { token: LIMITED, name: 'lisa', role: 'view', names: 'mine-.*' } as const];
    const definitions = ['mine-1', 'other'].map((name) => ({ name, duration: '10s' }));
    const { get } = await start({ console: { tokens }, gatekeeper: { definitions } });
    const { json } = await get('/api/semaphore-parts', { token: LIMITED });
    expect((json as Parts).changed.flatMap(({ items }) => items.map(({ name }) => name))).toEqual(['mine-1']);
  });

  it('are refused to a client that sends too much, or what is not asked for', async () => {
    const { get } = await start();
    expect((await get(`/api/semaphore-parts?known=${'x'.repeat(4001)}`)).status).toBe(400);
    expect((await get('/api/semaphore-parts?search=x')).status).toBe(400);
    expect((await get('/api/semaphore-parts', { token: null })).status).toBe(401);
  });
});
