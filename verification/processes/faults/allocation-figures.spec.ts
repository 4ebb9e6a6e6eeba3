import type { HistoryEntry } from '../../proof/history/history.js';
import { Story } from '../../proof/history/story.js';
import { type AllocationBounds, judgeAllocation } from './allocation-figures.js';

const RESOURCES = ['a', 'b', 'c', 'd'];
const BOUNDS = { takeover: 500, convergence: 3000 };
const SLACK = 10;

/** Entries of a story, about one resource. */
const of = (resource: string, { entries }: Story): HistoryEntry[] =>
  entries.map((entry) => ('semaphore' in entry ? { ...entry, ...named(entry, resource), semaphore: resource } : entry));

/** Calls and permits of several resources have different names. */
function named(entry: HistoryEntry, resource: string): object {
  return Object.fromEntries(
    (['call', 'permit'] as const).flatMap((field) =>
      field in entry ? [[field, `${resource} ${(entry as unknown as Record<typeof field, string>)[field]}`]] : [],
    ),
  );
}

function judge(stories: Record<string, Story>, others: Story = new Story(), bounds: AllocationBounds = BOUNDS) {
  const all = Object.entries(stories).flatMap(([resource, story]) => of(resource, story));
  const outside = others.entries.filter((entry) => !('semaphore' in entry));
  const history = [...all, ...outside].toSorted((one, other) => one.at - other.at);
  const { figures, violations } = judgeAllocation(history, RESOURCES, bounds, SLACK);
  return { ...figures, broken: violations.map(({ rule, text }) => `${rule} ${text}`) };
}

/** Owned by one process for a long time. */
const owned = (owner: string, at = 100) => new Story().granted(owner, { at, remaining: 20_000 });
const until = (story: Story) => story.until(19_000);
const well = (at: number, ...processes: string[]): HistoryEntry => ({
  event: 'all-well',
  at,
  process: 'controller',
  processes,
});

describe('two processes that claim one resource', () => {
  const first = () => new Story().granted('p1:1', { at: 100, remaining: 2500 });

  it('are a double owner while the lease of the first one lasts, also if it is frozen', () => {
    const story = first().happened('frozen', 'p1', 200).granted('p2:2', { at: 2599 });
    const { doubles, broken } = judge({ a: story }, undefined, { convergence: 3000 });
    expect(doubles).toBe(1);
    expect(broken).toEqual([expect.stringContaining('S1 a: two held slot 0 at once')]);
  });

  it('are one after the other when the lease, or the work of the first one, is over', () => {
    expect(judge({ a: first().ended('p1:1', 2600).granted('p2:2', { at: 2600 }) }).doubles).toBe(0);
    expect(judge({ a: first().released('p1:1', 500).granted('p2:2', { at: 500 }) }).doubles).toBe(0);
    expect(judge({ a: first().released('p1:1', 500).granted('p2:2', { at: 499 }) }).doubles).toBe(1);
  });

  it('may claim different resources at once', () => {
    const { doubles, broken, changes } = judge({ a: until(owned('p1:1')), b: until(owned('p2:2')) });
    expect({ doubles, broken, changes }).toEqual({ doubles: 0, broken: [], changes: 2 });
  });
});

it('a token that goes back with the next owner is refused', () => {
  const after = (owner: string) =>
    judge({ a: until(owned('p1:7').released('p1:7', 200).granted(owner, { at: 300, remaining: 20_000 })) }).broken;
  expect(after('p2:8')).toEqual([]);
  expect(after('p2:6')).toEqual([expect.stringContaining('S2 p2 was granted')]);
});

it('a write with the token of a former owner must be refused', () => {
  const written = (isApplied: boolean) =>
    judge({ a: until(owned('p2:8').wrote('p2:8', 200, true).wrote('p1:7', 300, isApplied)) }).broken;
  expect(written(false)).toEqual([]);
  expect(written(true)).toEqual([expect.stringContaining('S3')]);
});

describe('the next owner after kill -9', () => {
  const taken = (at: number, bounds?: AllocationBounds) => {
    const story = owned('p1:1').happened('killed', 'p1', 200).granted('p2:2', { at, remaining: 20_000 });
    return judge({ a: until(story) }, undefined, bounds);
  };

  it('is due in time', () => {
    expect(taken(700)).toMatchObject({ takeovers: [{ loss: 'kill -9', took: 500 }], broken: [] });
    expect(taken(701).broken).toEqual(['L a resource had its next owner 501 ms after kill -9; at most 500 ms']);
  });

  it('is only measured while the store may not work', () => {
    expect(taken(5000, { convergence: 3000 })).toMatchObject({ takeovers: [{ took: 4800 }], broken: [] });
  });
});

describe('convergence after an injection', () => {
  /** p1 has all, then gives two back. */
  const given = (released: number, taken: number) => ({
    a: until(owned('p1:1')),
    b: until(owned('p1:1')),
    c: until(owned('p1:1').released('p1:1', released).granted('p2:2', { at: taken, remaining: 20_000 })),
    d: until(owned('p1:1').released('p1:1', released).granted('p2:2', { at: taken, remaining: 20_000 })),
  });
  const after = (at: number, ...processes: string[]) => new Story().add(well(at, ...processes));

  it('is the time until each resource has an owner and shares are even', () => {
    expect(judge(given(1000, 1500), after(200, 'p1', 'p2'))).toMatchObject({ convergences: [1300], broken: [] });
  });

  it('is over at once if nothing had to move', () => {
    expect(judge(given(1000, 1500), after(3000, 'p1', 'p2')).convergences).toEqual([0]);
  });

  it('counts only owners that live', () => {
    const dead = judge(given(1000, 1500), after(3000, 'p1', 'p3'));
    expect(dead.convergences).toEqual([Infinity]);
    expect(dead.broken).toEqual(['L owners were settled never after the fault; at most 3000 ms']);
  });

  it('is not over while a process has nothing', () => {
    expect(judge(given(1000, 1500), after(3000, 'p1', 'p2', 'p3')).convergences).toEqual([Infinity]);
  });

  it('begins anew if a resource loses its owner soon after', () => {
    const { a, b, c } = given(1000, 1500);
    const d = owned('p1:1').released('p1:1', 1000).granted('p2:2', { at: 1500, remaining: 20_000 });
    until(d.released('p2:2', 2000).granted('p2:3', { at: 2500, remaining: 20_000 }));
    expect(judge({ a, b, c, d }, after(200, 'p1', 'p2')).convergences).toEqual([2300]);
  });

  it.each([
    ['is over after a calm second, also without an entry before the next fault has ended the leases', 4500, 0],
    ['is not over if the leases end within a second', 3500, Infinity],
  ])('%s', (_name, end, took) => {
    const lasting = (owner: string) => new Story().granted(owner, { at: 100, remaining: end - 100 });
    const stories = { a: lasting('p1:1'), b: lasting('p1:1'), c: lasting('p2:1'), d: lasting('p2:1') };
    const others = new Story().add(well(3000, 'p1', 'p2')).add(well(5000, 'p1', 'p2'));
    expect(judge(stories, others).convergences).toEqual([took, Infinity]);
  });

  it('that takes too long breaks the promise', () => {
    expect(judge(given(1000, 3300), after(200, 'p1', 'p2')).broken).toEqual([
      'L owners were settled 3100 ms after the fault; at most 3000 ms',
    ]);
  });
});
