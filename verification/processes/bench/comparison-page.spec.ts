type Results = Readonly<Record<string, unknown>>;
interface Generators {
  pageOf(results: Results, former?: string): string;
  chartOf(results: Results): string;
}

const PAGE: string = new URL('../../../bench/locks/page.mjs', import.meta.url).href;
const CHART: string = new URL('../../../bench/locks/chart.mjs', import.meta.url).href;

const peer = (id: string, kind: string, server: string) => ({
  id,
  name: `name of ${id}`,
  kind,
  server,
  version: '1.2',
});
const queue = (id: string, kind: string, server: string) => ({
  ...peer(id, kind, server),
  promise: `what ${id} keeps`,
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
  queues: [queue('ours', 'ours', 'redis'), queue('bull', 'peer', 'redis'), queue('alone', 'ours', 'hazelcast')],
  tasks: {
    ours: { submit: 12_345, 'complete-1': 900, 'complete-4': 1000, 'complete-16': 3000, p50: 700, p99: 4200 },
    bull: { submit: 23_456, 'complete-1': 450, 'complete-4': 1250, p50: 800, p99: 1200 },
    alone: { submit: 6172.5, 'complete-1': 1, 'complete-4': 1, 'complete-16': 1, p50: 1, p99: 1 },
  },
};

async function generated(changes: Results = {}) {
  const results = { ...RESULTS, ...changes };
  const { pageOf } = (await import(PAGE)) as Generators;
  const { chartOf } = (await import(CHART)) as Generators;
  const page = pageOf(results);
  return {
    page,
    chart: chartOf(results),
    slower: sectionOf(page, 'Where ours is slower on this processor'),
    wrong: sectionOf(page, 'Where ours is not as wanted'),
    tasks: page.slice(page.indexOf('## Tasks')),
  };
}

const sectionOf = (page: string, title: string) => page.split(`### ${title}\n`)[1]?.split(/^##/m)[0];

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
    const { slower, wrong } = await generated();
    expect(slower!.match(/^- .*$/gm)).toEqual(['- name of quick is faster: 1.50 times our pairs with 1 flow']);
    expect(wrong!.match(/^- .*$/gm)).toEqual([
      '- name of slow is more correct in "lost data"',
      '- name of mine (Redis): not as wanted in "lost data"',
    ]);
  });

  it('says so when no peer is ahead', async () => {
    const { mine } = RESULTS.speed;
    const { slower, wrong } = await generated({ speed: { mine }, cases: { mine: { stale: asWanted } } });
    for (const section of [slower, wrong]) {
      expect(section).toContain('Nowhere in this run.');
      expect(section).not.toMatch(/^- /m);
    }
  });

  it('marks each case of each lock, and shows only cases that ran', async () => {
    const { page } = await generated();
    expect(page).toContain('| lock | stale release | lost data |');
    expect(page).toContain('| name of mine (Redis) | yes | no |');
    expect(page).toContain('| name of slow | – | yes |');
    expect(page).not.toContain('Frozen');
  });

  it('shows a peer that failed in one measurement as failed', async () => {
    const { page } = await generated({ speed: { mine: RESULTS.speed.mine, quick: { 1: rate(1500) } } });
    expect(page).toContain('| name of quick | 1,500 | 12 µs, 3.4 ms | **1.50** | failed |');
  });

  it('shows the tasks of each system beside ours, and emphasizes a peer that is faster', async () => {
    const { tasks } = await generated();
    expect(tasks).toContain('| name of ours | 12,345 | 900 | 1,000 | 3,000 | 700 µs | 4.2 ms |');
    expect(tasks).toContain(
      '| name of bull | 23,456 (**1.90**) | 450 (0.50) | 1,250 (**1.25**) | failed | 800 µs | **1.2 ms** |',
    );
  });

  it('shows all systems beside ours on a server where ours has no peer', async () => {
    const { tasks } = await generated();
    const [, beside] = tasks.split('### Tasks on Hazelcast, beside all others\n');
    expect(beside).toContain('| name of alone | 6,173 |');
    expect(beside).toContain('| name of ours | 12,345 (2.00) |');
    expect(beside).toContain('| name of bull | 23,456 (**3.80**) |');
  });

  it('says what is left of the tasks when the server dies, and where a peer is faster', async () => {
    const { tasks } = await generated();
    expect(tasks).toContain('| name of bull | 1.2 | what bull keeps |');
    expect(tasks.match(/^- name of .*$/gm)).toEqual([
      '- name of bull is faster: 1.90 times our submit/s; 1.25 times our complete/s, 4 workers; idle p99 1.2 ms instead of 4.2 ms',
    ]);
  });
});

describe('the page after a run of one part', () => {
  const former = () => generated({ note: 'An earlier run.' });
  const { speed: _speed, cases: _cases, tasks: _tasks, ...others } = RESULTS;

  const titlesOf = (page: string) => [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  const partOf = (page: string, title: string) => page.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!.trim();
  const after = async (changes: Results) => {
    const { pageOf } = (await import(PAGE)) as Generators;
    const before = (await former()).page;
    return { before, page: pageOf({ ...others, ...changes, note: 'A later run.' }, before) };
  };
  const [SPEED, CORRECTNESS] = ['Speed of locks: Processor X', 'Correctness of locks'];

  it.each([
    [{ speed: RESULTS.speed }, SPEED],
    [{ cases: RESULTS.cases }, CORRECTNESS],
    [{ tasks: RESULTS.tasks }, 'Tasks'],
  ])('keeps the others (%#)', async (changes, own) => {
    const { before, page } = await after(changes);
    expect(titlesOf(page)).toEqual([SPEED, CORRECTNESS, 'Tasks']);
    expect(partOf(page, own)).toContain('A later run.');
    for (const title of [SPEED, CORRECTNESS, 'Tasks'].filter((each) => each !== own)) {
      expect(partOf(page, title)).toBe(partOf(before, title));
    }
  });

  it('keeps the speed on another processor, behind its own', async () => {
    const machine = { ...RESULTS.machine, processor: 'Processor(R) Y @ 2 GHz' };
    const { before, page } = await after({ speed: RESULTS.speed, machine });
    expect(titlesOf(page)).toEqual(['Speed of locks: Processor(R) Y @ 2 GHz', SPEED, CORRECTNESS, 'Tasks']);
    expect(partOf(page, SPEED)).toBe(partOf(before, SPEED));
    expect(page).toContain('(images/comparison-processor-y-2-ghz.svg)');
  });

  it('has no part that never ran', async () => {
    const { pageOf } = (await import(PAGE)) as Generators;
    expect(titlesOf(pageOf({ ...others, tasks: RESULTS.tasks }))).toEqual(['Tasks']);
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
