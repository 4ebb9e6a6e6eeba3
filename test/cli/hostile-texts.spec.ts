import { memory } from 'nestjs-gatekeeper';
import { HIDDEN, HOSTILE } from '../support/hostile-texts.js';
import { call, commandLine } from './command-line.js';

const NAME = 'planted';

/** A store in which every text that the command line shows is `hostile`. */
async function planted(hostile: string) {
  const store = memory();
  const raw = store.open();
  const { time: at } = await raw.now();
  const node = { group: hostile, acquirer: hostile, instance: hostile };
  const definition = { name: NAME, groupPattern: hostile, acquirerPattern: hostile, permits: 1, duration: 600_000 };
  const permit = { ...node, id: hostile, slot: 0, token: 1, holder: hostile, grantedAt: at };
  const change = { id: 'c', kind: 'edit', by: hostile, at, reason: hostile };
  const pause = { by: hostile, at, reason: hostile, groupPattern: hostile };
  const record = { v: 1, nonce: 'n', seq: 1, at, revision: 2, lastToken: 1, definition, change };
  const permits = [{ ...permit, expiresAt: at + 600_000, duration: 600_000 }];
  const texts = {
    [`semaphore:${NAME}`]: { ...record, permits },
    [`semaphore:${hostile}`]: { ...record, definition: { ...definition, name: hostile }, permits, pause },
    'semaphore:unreadable': { [hostile]: hostile },
    'nodes:0': { v: 1, nodes: [cardOf(node, at, hostile)] },
  };
  for (const [key, value] of Object.entries(texts))
    await raw.records.compareAndSet(key, undefined, JSON.stringify(value));
  const run = { kind: 'run', semaphore: hostile, job: hostile, node, at, took: 1, outcome: 'failed', message: hostile };
  const audited = { at, action: 'edit', semaphore: hostile, by: hostile, reason: hostile, node, to: definition };
  await raw.journal('runs').append([JSON.stringify(run)]);
  await raw.journal('audit').append([JSON.stringify(audited)]);
  await raw.close();
  return store;
}

function cardOf(node: object, at: number, hostile: string) {
  const job = { job: hostile, semaphore: NAME, schedule: { kind: 'interval', expression: hostile, interval: 1 } };
  const about = { host: hostile, pid: 1, version: hostile, startedAt: at, at, heartbeat: 3_600_000 };
  return { ...node, ...about, clock: { suspect: hostile }, jobs: [job] };
}

const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['explain', NAME],
  ['nodes'],
  ['history'],
  ['audit'],
  ['dump'],
  ['migrate', '--to-group', 'dr'],
  ['revoke', NAME, '--dry-run'],
  ['remove', NAME, '--dry-run'],
  ['edit', NAME, '--permits', '2'],
  ['pause', '.*'],
  ['resume', '.*'],
];

describe('the command line, where others wrote what it shows', () => {
  it.each(HOSTILE)('lets nothing through that a terminal obeys: %s', async (_, hostile) => {
    const gatekeeper = commandLine(await planted(hostile));
    for (const command of COMMANDS) {
      for (const format of [[], ['--json'], ['--verbose']]) {
        const { out, err } = await gatekeeper([...command, ...format]);
        // Not an expectation per line: there are thousands of lines.
        const obeyed = `${out}\n${err}`.split('\n').filter((line) => HIDDEN.test(line));
        expect([command, obeyed]).toEqual([command, []]);
        expect(out + err).not.toMatch(/^state semaphore=forged/m);
      }
    }
  });

  it.each(HOSTILE)('lets nothing through of its own arguments: %s', async (_, hostile) => {
    const gatekeeper = commandLine(memory());
    for (const args of [
      [hostile],
      ['status', hostile],
      ['explain', hostile],
      ['explain', 'a', `--${hostile}`],
      ['edit', 'a', '--permits', hostile],
    ]) {
      const { out, err } = await gatekeeper([...args, '--verbose']);
      for (const line of `${out}\n${err}`.split('\n')) expect(line).not.toMatch(HIDDEN);
    }
  });

  it('shows with --verbose where an error was thrown, and its cause, but no line that its message forged', async () => {
    const cause = new Error('\u009bcause\n    at forged:1:1');
    const open = () => {
      throw new Error('first\u001b[2J\nsecond', { cause });
    };
    const { err } = await call(['--store', 'hazelcast://a:1', '--verbose', 'status'], { open });
    expect(err).toMatch(/^gatekeeper: first\\u001b\[2J\\nsecond\nError: first\\u001b\[2J\\nsecond\n +at /);
    expect(err).toContain(String.raw`caused by: Error: \u009bcause\n    at forged:1:1`);
    expect(err).not.toMatch(/^ +at forged/m);
  });

  it('gives JSON with the very texts that were written', async () => {
    const hostile = 'a\u009b\u007f\u2028b';
    const gatekeeper = commandLine(await planted(hostile));
    const { out } = await gatekeeper(['audit', '--json']);
    expect(out).toContain(String.raw`a\u009b\u007f\u2028b`);
    expect(JSON.parse(out).entries).toMatchObject([{ by: hostile, reason: hostile }]);
  });
});
