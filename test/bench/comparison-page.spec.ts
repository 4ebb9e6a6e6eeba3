import { describe, expect, it } from '@jest/globals';

type Results = Readonly<Record<string, unknown>>;
interface Generators {
  pageOf(results: Results): string;
  chartOf(results: Results): string;
}

const PAGE: string = '../../bench/locks/page.mjs';
const CHART: string = '../../bench/locks/chart.mjs';

const peer = (id: string, kind: string, server: string) => ({
  id,
  name: `name of ${id}`,
  kind,
  server,
  version: '1.2',
});
const rate = (value: number) => ({ rate: value, p50: 12, p99: 3400 });
const asWanted = { text: 'the new holder kept its lock', holds: true };
const broken = { text: "released the new holder's lock", holds: false };

const RESULTS = {
  date: '2026-01-02',
  machine: { processor: 'Processor X', cores: 4, memory: '8 GiB', kernel: '6.1' },
  load: 0.25,
  versions: { 'Node.js': '20.20.0', Redis: '7.0.15' },
  seconds: 5,
  took: 400,
  missing: ['left out shedlock-jdbc: mvn is missing'],
  note: 'The machine was busy.',
  peers: [
    peer('mine', 'ours', 'redis'),
    peer('quick', 'peer', 'redis'),
    peer('slow', 'peer', 'redis'),
    peer('bare', 'raw', 'redis'),
  ].map((each) => ({ ...each, differs: `how ${each.id} differs` })),
  speed: {
    mine: { 1: rate(1000), 64: rate(20_000) },
    quick: { 1: rate(1500), 64: rate(19_000) },
    slow: { 1: rate(500), 64: rate(1000) },
    bare: { 1: rate(4000), 64: rate(40_000) },
  },
  cases: {
    mine: { stale: asWanted, lost: broken },
    quick: { stale: broken, lost: broken },
    slow: { stale: { text: 'not applicable: no expiry', holds: null }, lost: asWanted },
  },
  tasks: [
    { name: 'submit a task: with care, per s: ours', ours: 12_345, reference: null },
    { name: 'submit a task: with care, per s: BullMQ', ours: 12_345, reference: 23_456 },
    { name: 'from submit to start, ms: ours', ours: 3, reference: null },
    { name: 'from submit to start, ms: BullMQ', ours: 3, reference: 4 },
  ],
};

async function generated(changes: Results = {}) {
  const results = { ...RESULTS, ...changes };
  const { pageOf } = (await import(PAGE)) as Generators;
  const { chartOf } = (await import(CHART)) as Generators;
  const page = pageOf(results);
  return { page, chart: chartOf(results), behind: sectionOf(page, 'Where ours is behind') };
}

const sectionOf = (page: string, title: string) => page.split(`## ${title}\n`)[1]?.split('\n## ')[0];

describe('the page of the comparison', () => {
  it('names the date, the machine, the versions, the note and what was left out', async () => {
    const { page } = await generated();
    const facts = ['2026-01-02', 'Processor X, 4 cores', 'Redis 7.0.15', 'The machine was busy.', 'mvn is missing'];
    expect(facts.filter((fact) => !page.includes(fact))).toEqual([]);
  });

  it('shows each row beside ours, and emphasizes a peer that is faster', async () => {
    const { page } = await generated();
    const cells = '12 µs, 3.4 ms';
    expect(page).toContain(`| name of quick | 1,500 | ${cells} | **1.50** | 19,000 | ${cells} | 0.95 |`);
    expect(page).toContain(`| name of bare | 4,000 | ${cells} | 4.00 | 40,000 | ${cells} | 2.00 |`);
  });

  it('says where a peer is faster or more correct, and where ours is not as wanted', async () => {
    const { behind } = await generated();
    expect(behind!.match(/^- .*$/gm)).toEqual([
      '- name of quick is faster: 1.50 times our pairs with 1 flow',
      '- name of slow is more correct in "lost data"',
      '- name of mine (Redis): not as wanted in "lost data"',
    ]);
  });

  it('says so when no peer is ahead', async () => {
    const { mine } = RESULTS.speed;
    const { behind } = await generated({ speed: { mine }, cases: { mine: { stale: asWanted } } });
    expect(behind).toContain('Nowhere in this run.');
    expect(behind).not.toMatch(/^- /m);
  });

  it('marks each case of each lock, and shows only cases that ran', async () => {
    const { page } = await generated();
    expect(page).toContain('| lock | stale release | lost data |');
    expect(page).toContain('| name of mine (Redis) | yes | no |');
    expect(page).toContain('| name of slow | – | yes |');
    expect(page).not.toContain('### Frozen');
  });

  it('shows a peer that failed in one measurement as failed', async () => {
    const { page } = await generated({ speed: { mine: RESULTS.speed.mine, quick: { 1: rate(1500) } } });
    expect(page).toContain('| name of quick | 1,500 | 12 µs, 3.4 ms | **1.50** | failed |');
  });

  it('puts the systems of the tasks side by side, and emphasizes what is better than ours', async () => {
    const { page } = await generated();
    expect(page).toContain('| submit a task: with care, per s | 12300 | **23500** |');
    expect(page).toContain('| from submit to start, ms | 3 | 4 |');
  });
});

describe('the chart of the comparison', () => {
  it('has a bar for each lock and number of flows, as long as its figure', async () => {
    const { chart } = await generated();
    const widths = [...chart.matchAll(/<rect class="(\w+)" x="\d+" y="\d+" width="([\d.]+)"/g)].map(
      ([, name, width]) => [name, Number(width)] as const,
    );
    expect(widths).toHaveLength(8);
    const longest = Math.max(...widths.map(([, width]) => width));
    expect(widths.find(([name]) => name === 'raw64')![1]).toBe(longest);
    expect(widths.find(([name]) => name === 'ours64')![1]).toBeCloseTo(longest / 2, 0);
  });

  it('has colours for light and dark pages, and loads nothing', async () => {
    const { chart } = await generated();
    expect(chart).toContain('prefers-color-scheme: dark');
    expect(chart.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(|<image|<script/);
  });

  it('escapes names', async () => {
    const [first, ...others] = RESULTS.peers;
    const { chart } = await generated({ peers: [{ ...first, name: 'a < b & c' }, ...others] });
    expect(chart).toContain('>a &lt; b &amp; c</text>');
  });
});
