import { type Definitions, InvalidOptionsError, type NodeInfo } from 'nestjs-gatekeeper';
import { previewOf } from '../../../lib/console/api/preview.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { type Pieces, inSlices } from '../../../lib/core/async/slices.js';
import { namesInPieces, planSteps } from '../../../lib/operate/definitions/migration.js';
import {
  MOST_STEPS,
  type SemaphoreRecord,
  compilePattern,
  costOf,
  createRecord,
  parseDefinition,
} from '../../../lib/core/decision/index.js';

/** As long as names may be. */
const LONG = 'x'.repeat(197);
/** Nearly the dearest that is allowed: each part may be tried at each place of a name. */
const DEAREST = '.*'.repeat(400);
const NODE = { group: 'default', acquirer: 'app1', instance: 'instance' };

/** A clock that goes on by 1 ms at each look. */
const ticking = () => {
  let now = 0;
  return { monotonic: () => now++, nextTurn: setImmediate };
};

function* counting(pieces: number): Pieces<number> {
  for (let count = 0; count < pieces; count++) yield 10;
  return pieces;
}

/** How often the event loop turned until the promise was settled. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  await work.catch(() => undefined);
  clearImmediate(next);
  return turns;
}

/** All that a generator yields. */
const stepsIn = (pieces: Pieces<unknown>) => [...pieces];

function aNode(index: number): NodeInfo {
  const at = { host: 'host', pid: 1, startedAt: 0, at: 0, heartbeat: 1000, clock: {}, jobs: [] };
  return { group: `${LONG}${index}`, acquirer: `${LONG}${index}`, instance: String(index), ...at };
}

function records(count: number, groupPattern: (index: number) => string = () => '.*'): Map<string, SemaphoreRecord> {
  const entries = Array.from({ length: count }, (_, index) => {
    const definition = parseDefinition(
      { name: `job-${index}`, groupPattern: groupPattern(index), duration: '10s' },
      100,
    );
    return [definition.name, createRecord(definition, 0, 'nonce')] as const;
  });
  return new Map(entries);
}

describe('work in slices', () => {
  it('gives its result, and lets others have their turn whenever a slice is used up', async () => {
    const work = inSlices(counting(500), ticking());
    expect(await turnsDuring(work)).toBeGreaterThan(50);
    expect(await work).toBe(500);
  });

  it('keeps no turn waiting while it takes no time', async () => {
    expect(await turnsDuring(inSlices(counting(500), { monotonic: () => 0, nextTurn: setImmediate }))).toBe(0);
  });

  it('ends where a request takes more steps than it may, and says what to do', async () => {
    const limit = { most: 100, subject: 'a migration' };
    await expect(inSlices(counting(11), ticking(), limit)).rejects.toThrow(InvalidOptionsError);
    await expect(inSlices(counting(11), ticking(), limit)).rejects.toThrow(
      "a migration can't be used: its patterns take more than 100 steps to match all names: use simpler patterns",
    );
    expect(await inSlices(counting(10), ticking(), limit)).toBe(10);
  });

  it('ends with the piece in which no one wants its result any more', async () => {
    const gone = new AbortController();
    let pieces = 0;
    function* work(): Pieces<void> {
      for (;;) {
        if (++pieces === 3) gone.abort();
        yield 1;
      }
    }
    await expect(inSlices(work(), ticking(), undefined, gone.signal)).rejects.toBe(gone.signal.reason);
    expect(pieces).toBe(3);
  });
});

describe('a pattern over many names', () => {
  it('is matched in pieces of at most one name each', () => {
    expect(costOf(DEAREST).steps).toBeGreaterThan(MOST_STEPS / 2);
    expect(typeof compilePattern(DEAREST)).toBe('function');
    const names = Array.from({ length: 10 }, (_, index) => `${LONG}${index}`);
    const steps = stepsIn(namesInPieces(DEAREST, names));
    expect(steps).toHaveLength(10);
    expect(Math.max(...steps)).toBeLessThanOrEqual(MOST_STEPS);
  });

  it('lets others have their turn while it is matched against 100,000 names', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `job-${index}`);
    const matching = inSlices(namesInPieces('job-[0-9]*7', names), systemClock, { most: 1e9, subject: 'a pause' });
    expect(await turnsDuring(matching)).toBeGreaterThan(1);
    expect(await matching).toHaveLength(10_000);
  });
});

describe('a preview', () => {
  const preview = (pattern: string, nodes: number) => {
    const input = { name: 'job', groupPattern: pattern, acquirerPattern: pattern, permits: 1, duration: '10s' };
    const living = Array.from({ length: nodes }, (_, index) => aNode(index));
    return previewOf(input, living, { faultsOf: () => [] } as unknown as Definitions);
  };

  it('is made in pieces of at most one match each', () => {
    expect(Math.max(...stepsIn(preview(DEAREST, 5)))).toBeLessThanOrEqual(MOST_STEPS);
  });

  it('of the dearest patterns on a hundred nodes with the longest names is refused', async () => {
    const limit = { most: 20_000_000, subject: 'the preview' };
    await expect(inSlices(preview(DEAREST, 100), systemClock, limit)).rejects.toThrow(InvalidOptionsError);
    const { nodes } = await inSlices(preview('x{190,200}[0-9]{1,2}', 100), systemClock, limit);
    expect(nodes.filter(({ matches }) => matches)).toHaveLength(100);
  });
});

describe('the plan of a migration', () => {
  const plan = (to: object, known: ReadonlyMap<string, SemaphoreRecord>, nodes: number) =>
    planSteps({ group: LONG, to }, [...known.keys()], {
      records: known,
      nodes: Array.from({ length: nodes }, (_, i) => aNode(i)),
      node: NODE,
      now: 0,
    });

  it('is made in pieces of at most one match each', () => {
    const steps = stepsIn(plan({ groupPattern: DEAREST, acquirerPattern: DEAREST }, records(3), 5));
    expect(Math.max(...steps)).toBeLessThanOrEqual(MOST_STEPS);
  });

  it('matches nodes once for all definitions that get the same patterns', () => {
    const to = { groupPattern: DEAREST, acquirerPattern: DEAREST };
    const total = (known: number) => stepsIn(plan(to, records(known), 3)).reduce((sum, each) => sum + each, 0);
    expect(total(200) - total(100)).toBeLessThan(100 * 100);
  });

  it('counts what stored patterns take, each by itself', () => {
    const known = records(10, (index) => `${DEAREST}${index}?`);
    const total = stepsIn(plan({ acquirerPattern: 'app1' }, known, 1)).reduce((sum, each) => sum + each, 0);
    expect(total).toBeGreaterThan(10 * (MOST_STEPS / 2));
  });
});
