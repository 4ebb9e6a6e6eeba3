import fc from 'fast-check';
import type { AuditEntry, NodeInfo, RunEntry } from 'nestjs-gatekeeper';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { inSlices } from '../../../lib/core/async/slices.js';
import { decodeEntries } from '../../../lib/core/journals/decode-entries.js';
import { storedRunEntrySchema } from '../../../lib/operate/activity/entry-schemas.js';
import { START } from '../../support/fake-time.js';
import { type TestCluster, useCluster } from '../../support/nodes.js';
import { notePast } from '../../support/past-of-jobs.js';

const NODE = { group: 'default', acquirer: 'app9', instance: 'i' };

const RUN: RunEntry = {
  kind: 'run',
  semaphore: 'job',
  job: 'Jobs.export',
  node: NODE,
  at: START - 1000,
  took: 10,
  outcome: 'ok',
};

const CHANGE: AuditEntry = { at: START, action: 'pause', semaphore: 'job', by: 'ann', node: NODE };

const CARD: NodeInfo = {
  ...NODE,
  host: 'h',
  pid: 1,
  startedAt: START - 60_000,
  at: START,
  heartbeat: 3_600_000,
  clock: {},
  jobs: [
    {
      job: 'Jobs.export',
      semaphore: 'job',
      schedule: { kind: 'interval', expression: '5', next: START + 5, interval: 5 },
    },
  ],
};

/** Beyond what `Date` can show. */
const NEVER = 8_700_000_000_000_000;

const MALFORMED_RUNS: readonly [string, unknown][] = [
  ['no fields', {}],
  ['an array', []],
  ['null', null],
  ['a number', 7],
  ['no semaphore', { ...RUN, semaphore: undefined }],
  ['a number as semaphore', { ...RUN, semaphore: 7 }],
  ['no node', { ...RUN, node: undefined }],
  ['a text as node', { ...RUN, node: 'app9' }],
  ['a node without a name', { ...RUN, node: {} }],
  ['a text as time', { ...RUN, at: 'yesterday' }],
  ['a time that no calendar has', { ...RUN, at: NEVER }],
  ['a duration below zero', { ...RUN, took: -1 }],
  ['an endless name', { ...RUN, job: 'x'.repeat(1001) }],
  ['an unknown outcome', { ...RUN, outcome: 'constructor' }],
  ['an unknown kind', { ...RUN, kind: '__proto__' }],
  ['a skip for no known reason', { ...RUN, kind: 'skip', reason: 'toString' }],
];

const MALFORMED_CARDS: readonly [string, unknown][] = [
  ['null', null],
  ['a text', 'app9'],
  ['no jobs', { ...CARD, jobs: undefined }],
  ['a job without a name', { ...CARD, jobs: [{ semaphore: 'job' }] }],
  ['an endless host', { ...CARD, host: 'h'.repeat(100_000) }],
  ['a number as group', { ...CARD, group: 1 }],
  ['a start that no calendar has', { ...CARD, startedAt: NEVER }],
  ['a start before all time', { ...CARD, startedAt: -NEVER, at: START }],
  ['a clock that no calendar has', { ...CARD, clock: { offset: -NEVER } }],
  ['code that the text does not have', { ...CARD, code: 2 }],
  ['code that is no list of definitions', { ...CARD, code: 0 }],
  ['code in words', { ...CARD, code: 'job: 10s' }],
  ['more jobs than any application', { ...CARD, jobs: Array.from({ length: 1001 }, () => CARD.jobs[0]) }],
];

/** A text that JSON.stringify can't make: a key that would be the prototype of a careless copy. */
function withPrototype(entry: object): string {
  return JSON.stringify(entry).replace('{', '{"__proto__":{"semaphore":"other","jobs":"x"},');
}

async function look(nodes: TestCluster) {
  const node = await nodes.node({ group: 'default' });
  const { gatekeeper } = node;
  const [overview, history, audit] = [
    await gatekeeper.overview(),
    await gatekeeper.history(100),
    await gatekeeper.audit.read(100),
  ];
  return { ...node, overview, history, audit };
}

describe('entries that are none', () => {
  const cluster = useCluster();

  it.each(MALFORMED_RUNS)('in the history (%s) cost no other entry and no page', async (_, malformed) => {
    const nodes = cluster();
    await nodes.raw.journal('runs').append([JSON.stringify(RUN), JSON.stringify(malformed), JSON.stringify(RUN)]);
    await notePast(nodes.raw.records, [RUN]);
    const { overview, history, of, gatekeeper } = await look(nodes);
    expect(history).toEqual([RUN, RUN]);
    expect(overview.semaphores).toMatchObject([{ name: 'job', lastRun: RUN }]);
    expect(of('problem')).toMatchObject([{ action: 'read the journal of runs' }]);
    expect(gatekeeper.health().unreadable).toEqual({ runs: 1, audit: 0, nodes: 0 });
  });

  it('in the audit log cost no other entry, and are counted', async () => {
    const nodes = cluster();
    const malformed = [
      { ...CHANGE, by: {} },
      { ...CHANGE, action: 'toString' },
      { ...CHANGE, from: { name: 'job' } },
      { ...CHANGE, permit: 'all' },
      { ...CHANGE, node: [] },
    ];
    const texts = [...malformed.map((entry) => JSON.stringify(entry)), 'no JSON', '', '"x'.repeat(100_000)];
    await nodes.raw.journal('audit').append([...texts, JSON.stringify(CHANGE)]);
    const { audit, of, gatekeeper } = await look(nodes);
    expect(audit).toEqual([CHANGE]);
    expect(gatekeeper.health().unreadable.audit).toBe(texts.length);
    expect(of('problem')).toMatchObject([{ error: { message: expect.stringMatching(/^8 can't be read/) } }]);
  });

  it.each(MALFORMED_CARDS)('among the nodes (%s) cost no other card and no page', async (_, malformed) => {
    const nodes = cluster();
    const text = JSON.stringify({
      v: 1,
      nodes: [malformed, { ...CARD, code: 1 }],
      codes: ['job: 10s', 'x'.repeat(20)],
    });
    await nodes.raw.records.compareAndSet('nodes:0', undefined, text);
    const { overview, of, gatekeeper } = await look(nodes);
    expect(overview.nodes).toEqual([CARD]);
    expect(overview.semaphores[0]!.jobs).toMatchObject([{ job: 'Jobs.export', nodes: 1 }]);
    expect(of('problem')).toHaveLength(1);
    expect(gatekeeper.health().unreadable.nodes).toBe(1);
  });

  it.each([{ at: START - 1000, took: 10, outcome: 'ok' }, { at: NEVER }, 'rubbish'])(
    'among the nodes do not count by what an older version told of a job (%j)',
    async (lastRun) => {
      const nodes = cluster();
      const former = { ...CARD, jobs: [{ ...CARD.jobs[0], lastRun }] };
      await nodes.raw.records.compareAndSet('nodes:0', undefined, JSON.stringify({ v: 1, nodes: [former] }));
      const { overview, gatekeeper } = await look(nodes);
      expect(overview.nodes).toEqual([CARD]);
      expect(gatekeeper.health().unreadable.nodes).toBe(0);
    },
  );

  it.each(['no JSON', '[]', '{"v":1}', `{"v":1,"nodes":[${' '.repeat(2_000_000)}]}`])(
    'a whole text of cards that is none costs none of the others (%#)',
    async (text) => {
      const nodes = cluster();
      await nodes.raw.records.compareAndSet('nodes:0', undefined, text);
      await nodes.raw.records.compareAndSet('nodes:1', undefined, JSON.stringify({ v: 1, nodes: [CARD] }));
      const { overview, gatekeeper } = await look(nodes);
      expect(overview.nodes).toEqual([CARD]);
      expect(gatekeeper.health().unreadable.nodes).toBe(1);
    },
  );

  it('take nothing from a key that means the prototype', async () => {
    const nodes = cluster();
    await nodes.raw.journal('runs').append([withPrototype(RUN)]);
    await nodes.raw.records.compareAndSet('nodes:0', undefined, `{"v":1,"nodes":[${withPrototype(CARD)}]}`);
    const { overview, history } = await look(nodes);
    expect([history, overview.nodes]).toEqual([[RUN], [CARD]]);
    expect(Object.getPrototypeOf(overview.nodes[0])).toBe(Object.prototype);
    expect(Object.keys(history[0]!)).not.toContain('__proto__');
  });

  it('are reported at once, then at most every ten minutes, and no longer once they are gone', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    await nodes.raw.journal('audit').append(['{}']);
    for (let minute = 0; minute < 25; minute++) {
      await gatekeeper.audit.read(10);
      await nodes.time.advance(60_000);
    }
    expect(of('problem')).toHaveLength(3);
    await nodes.raw.journal('audit').append(Array.from({ length: 10 }, () => JSON.stringify(CHANGE)));
    await gatekeeper.audit.read(10);
    expect(gatekeeper.health().unreadable.audit).toBe(0);
  });

  it('are reported by the node that writes over them', async () => {
    const nodes = cluster();
    const shards = Array.from({ length: 16 }, (_, index) => `nodes:${index}`);
    for (const key of shards) await nodes.raw.records.compareAndSet(key, undefined, '{"v":1,"nodes":[{}]}');
    const { of } = await nodes.node({ heartbeat: '10s' });
    expect(of('problem')).toMatchObject([{ action: 'read the entries of the nodes' }]);
  });

  it('of any shape leave every page as it is', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const partOf = (valid: object) =>
      fc
        .tuple(fc.constantFrom(...Object.keys(valid)), fc.jsonValue())
        .map(([key, value]) => ({ ...valid, [key]: value }));
    const entry = fc.oneof(partOf(RUN), partOf(CHANGE), fc.jsonValue()).map((value) => JSON.stringify(value));
    const card = fc.oneof(
      partOf(CARD),
      partOf(CARD.jobs[0]!).map((job) => ({ ...CARD, jobs: [job] })),
      fc.jsonValue(),
    );
    const property = fc.asyncProperty(entry, card, async (text, hostile) => {
      const key = `nodes:${Math.random()}`;
      await nodes.raw.journal('runs').append([text]);
      await nodes.raw.journal('audit').append([text]);
      await nodes.time.advance(1000);
      await nodes.raw.records.compareAndSet(key, undefined, JSON.stringify({ v: 1, nodes: [hostile] }));
      const { semaphores } = await gatekeeper.overview();
      expect(semaphores).toMatchObject([{ name: 'job' }]);
      await gatekeeper.history(10);
      await gatekeeper.audit.read(10);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it('are read without blocking: ten thousand in portions', async () => {
    const texts = Array.from({ length: 10_000 }, () => JSON.stringify(RUN));
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    // By the machine's clock: a node of the test's cluster goes by one that stands still.
    const { entries } = await inSlices(decodeEntries(texts, storedRunEntrySchema), systemClock);
    clearInterval(counting);
    expect(entries).toHaveLength(10_000);
    expect(turns).toBeGreaterThan(2);
  });
});
