import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkHistory } from './check-history.js';
import { main } from './cli.js';
import { readHistory } from './history-file.js';
import { Story } from './story.js';

async function stored(...lines: string[]): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'history-')), 'one.jsonl');
  await writeFile(file, lines.join('\n'));
  return file;
}

const linesOf = ({ entries }: Story) => entries.map((entry) => JSON.stringify(entry));
const good = new Story().granted('p1:1', { at: 100 }).released('p1:1', 200);
const bad = new Story().granted('p1:1', { at: 100 }).granted('p2:2', { at: 200 });

describe('a stored history', () => {
  it('is read as it was logged, from all its files', async () => {
    const files = [await stored(...linesOf(good)), await stored(...linesOf(new Story()))];
    expect(await readHistory(...files)).toEqual([...good.entries, ...new Story().entries]);
  });

  it('may end in the middle of a line, where a process was killed; but not go on after it', async () => {
    const [first, second] = linesOf(good) as [string, string];
    expect(await readHistory(await stored(first, second.slice(0, 20)))).toHaveLength(1);
    await expect(readHistory(await stored(second.slice(0, 20), first))).rejects.toThrow(/one\.jsonl, line 1: no JSON/);
  });

  it('is refused where a line is no entry', async () => {
    const line = '{"at":1,"process":"p1","event":"granted","call":"c"}';
    await expect(readHistory(await stored(line))).rejects.toThrow(/line 1: no entry of a history:[^]*semaphore/);
  });
});

describe('npm run history', () => {
  async function run(...args: string[]): Promise<{ code: number; text: string }> {
    const printed: string[] = [];
    const code = await main(args, (text) => printed.push(text));
    return { code, text: printed.join('\n') };
  }

  it('says that nothing was broken', async () => {
    const { code, text } = await run(await stored(...linesOf(good)));
    expect(text).toContain('1 grants, 0 refreshes, 1 releases');
    expect(text).toContain('no promise was broken');
    expect(code).toBe(0);
  });

  it('tells what was broken, and ends with 1', async () => {
    const { code, text } = await run(await stored(...linesOf(bad)));
    expect(text).toContain('S1 job: two held slot 0 at once');
    expect(code).toBe(1);
  });

  it('takes the times by which takeovers are judged', async () => {
    const late = new Story().granted('p1:1', { at: 100 }).happened('killed', 'p1', 200).denied('p2', 1301).until(1800);
    const file = await stored(...linesOf(late));
    expect((await run(file)).code).toBe(0);
    expect((await run(file, '--takeover', '*=1s,100ms,400ms')).text).toContain('L p1');
    await expect(run(file, '--takeover', 'job=1s')).rejects.toThrow('write <semaphore>=<duration>');
    await expect(run(file, '--slack', 'soon')).rejects.toThrow('--slack: "soon"');
  });

  it('explains itself', async () => {
    expect((await run()).code).toBe(2);
    expect((await run('--help')).text).toContain('npm run history');
  });
});

it('a history of 300,000 entries is held against all rules within seconds', () => {
  const story = new Story();
  for (let turn = 1; turn <= 60_000; turn++) {
    story.granted(`p${turn % 5}:${turn}`, { at: 100 * turn }).released(`p${turn % 5}:${turn}`, 100 * turn + 50);
    story.wrote(`p${turn % 5}:${turn}`, 100 * turn + 20, true);
  }
  // Of this process: what else the machine does is no matter.
  const began = process.cpuUsage();
  const { violations, figures } = checkHistory(story.entries);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000);
  expect(violations).toEqual([]);
  expect(figures).toMatchObject({ entries: 300_001, grants: 60_000, releases: 60_000 });
});
