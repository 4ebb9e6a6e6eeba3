import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CorruptRecordError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { EXIT, exitCodeOf } from '../../lib/cli/options/exit-code.js';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { RemoteProblem } from '../../lib/cli/rest/problem.js';
import { PROBLEMS } from '../../lib/console/api/index.js';
import { TOKENS, useConsoles } from '../console/consoles.js';
import { call } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

const HAZELCAST = ['--store', 'hazelcast://127.0.0.1:1'];
const CONSOLE = ['--url', 'http://127.0.0.1:1/gatekeeper'];
const SECRET = 's3cret-and-never-shown';

describe('misuse of the command line', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-cli-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const file = async (name: string, content: string) => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };

  it.each([
    ['no command', [], /Usage: gatekeeper/],
    ['an unknown command', ['stauts'], /unknown command 'stauts'\n\(Did you mean status\?\)/],
    ['an unknown option', ['status', '--helld'], /unknown option '--helld'\n\(Did you mean --held\?\)/],
    ['no target', ['status'], /no target is given: use --url .* --store .* --context/],
    ['two targets', ['status', ...HAZELCAST, ...CONSOLE], /two targets were given/],
    ['no name', ['explain', ...HAZELCAST], /missing required argument 'name'/],
    ['one argument too many', ['nodes', 'app1', ...HAZELCAST], /too many arguments/],
    ['a pattern that is none', ['status', '(', ...HAZELCAST], /"\(" .*RE2/],
    ['a lookahead', ['pause', '(?=a)', ...HAZELCAST], /"\(\?=a\)" .*RE2/],
    ['a duration that is none', ['edit', 'a', '--duration', 'soon', ...HAZELCAST], /--duration .*"soon"/],
    [
      'a duration in months',
      ['edit', 'a', '--duration', 'P1M', ...HAZELCAST],
      /--duration .*"P1M" has years or months/,
    ],
    ['a number that is none', ['edit', 'a', '--permits', '1.5', ...HAZELCAST], /Give a whole number, 0 or more/],
    ['a revision below 1', ['edit', 'a', '--expected-revision', '0', ...HAZELCAST], /Give a whole number, 1 or more/],
    ['an edit of nothing', ['edit', 'a', ...HAZELCAST], /no change is given: add --permits/],
    ['a definition without a duration', ['define', 'a', ...HAZELCAST], /--duration/],
    ['a migration to nowhere', ['migrate', ...HAZELCAST], /no new pattern is given: add --to-group/],
    [
      'a migration to two places',
      ['migrate', '--to-group', 'a', '--group-pattern', 'b', ...HAZELCAST],
      /leave one of them out/,
    ],
    [
      'a store of another kind',
      ['status', '--store', 'mysql://host/app'],
      /"mysql:\/\/host\/app" is no address of a store/,
    ],
    ['a store without an address', ['status', '--store', 'host:6379'], /postgres:\/\/host\/database, redis:/],
    [
      'a cluster with a path too long',
      ['status', '--store', 'hazelcast://a:1/b/c'],
      /hazelcast:\/\/host:5701,host:5701\/cluster/,
    ],
    [
      'a cluster with a password',
      ['status', '--store', `hazelcast://ann:${SECRET}@a:1`],
      /credentials in --store-options/,
    ],
    ['a cluster with half an escape', ['status', '--store', 'hazelcast://a:1/%'], /hazelcast:\/\/host:5701/],
    ['a database without a name', ['status', '--store', `postgres://${SECRET}:${SECRET}@:port`], /connectionString/],
    ['an address that is none', ['status', '--url', 'host/gatekeeper'], /"host\/gatekeeper" is not an address/],
    ['a secret in the address', ['status', '--url', `https://ann:${SECRET}@host`], /contains a name or a password/],
    ['two tokens', ['status', ...CONSOLE, '--token', SECRET, '--token-file', 'x'], /--token and --token-file/],
    ['a token with a line break', ['status', ...CONSOLE, '--token', `${SECRET}\n2`], /--token contains no valid token/],
    ['a name with --url', ['status', ...CONSOLE, '--as', 'bob'], /leave --as out/],
    [
      "another node's place with --url",
      ['explain', 'a', '--group', 'b', ...CONSOLE],
      /leave --group and --acquirer out/,
    ],
    ['a token file that is not there', ['status', ...CONSOLE, '--token-file', '/no/such'], /ENOENT/],
    ['a dump that is not there', ['load', '/no/such', ...HAZELCAST], /ENOENT/],
    ['a shell that is not known', ['completion', 'tcsh'], /Allowed choices are bash/],
  ])('ends with 2 and says what to do, given %s', async (_, args, sentence) => {
    const { exitCode, out, err } = await call(args, { open: openOperator });
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toMatch(sentence);
    expect(err).not.toMatch(/^ +at /m);
    expect(err).not.toContain(SECRET);
  });

  it('does not show the token of a file or of the environment that can be none', async () => {
    const args = ['status', ...CONSOLE];
    const path = await file('token', `${SECRET} and more`);
    for (const outcome of [
      await call([...args, '--token-file', path, '--verbose']),
      await call([...args, '--verbose'], { env: { GATEKEEPER_TOKEN: `${SECRET}\u0001` } }),
    ]) {
      expect(outcome.exitCode).toBe(2);
      expect(outcome.err).not.toContain(SECRET);
    }
  });

  it('names every fault of a dump', async () => {
    const semaphores = [
      { name: '', duration: '5m' },
      { name: 'a', duration: 'soon', permits: -1 },
    ];
    const path = await file('dump.json', JSON.stringify({ version: 1, at: 0, semaphores }));
    const { exitCode, err } = await call(['load', path, ...HAZELCAST]);
    expect(exitCode).toBe(2);
    expect(err).toMatch(/semaphores\.0\.name: is empty.*semaphores\.1\.permits: -1.*semaphores\.1\.duration: "soon"/);
  });

  it('refuses what is no dump at all, or defines one twice', async () => {
    const twice = { version: 1, at: 0, semaphores: [1, 2].map(() => ({ name: 'a', duration: 60_000 })) };
    for (const [content, sentence] of [
      ['{', /is not JSON/],
      ['[]', /is not a dump/],
      ['{"version":2,"at":0,"semaphores":[]}', /version/],
      [JSON.stringify(twice), /defines "a" twice/],
    ] as const) {
      const { exitCode, err } = await call(['load', await file('dump.json', content), ...HAZELCAST]);
      expect(exitCode).toBe(2);
      expect(err).toMatch(sentence);
    }
  });

  it('passes on what hazelcast() finds wrong with further options', async () => {
    const path = await file('options.json', JSON.stringify({ mapName: 7, quorums: 2 }));
    const { exitCode, err } = await call(['status', ...HAZELCAST, '--store-options', path], { open: openOperator });
    expect(exitCode).toBe(2);
    expect(err).toMatch(/mapName.*quorums|quorums.*mapName/);
  });

  it('ends with 6 without an answer, and shows a stack trace only with --verbose', async () => {
    for (const target of [HAZELCAST, CONSOLE]) {
      const args = ['status', ...target, '--timeout', '200ms'];
      const { exitCode, out, err } = await call(args, { open: openOperator });
      expect({ exitCode, out }).toEqual({ exitCode: 6, out: '' });
      expect(err).toMatch(/^gatekeeper: .*can't be reached.*--timeout\n$/);
      const verbose = await call([...args, '--verbose'], { open: openOperator });
      expect(verbose.err).toMatch(/^ +at /m);
    }
  });

  it('takes what the options say before what the environment says', async () => {
    const targets: unknown[] = [];
    const env = { GATEKEEPER_URL: 'https://elsewhere/gatekeeper', GATEKEEPER_TOKEN: SECRET };
    const open = (target: unknown) => {
      targets.push(target);
      throw new Error('seen');
    };
    await call(['status'], { env, open });
    await call(['status', '--store', 'hazelcast://a:1,b:2/c'], { env, open });
    await call(['status'], { env: { GATEKEEPER_STORE: 'rediss://a', GATEKEEPER_URL: '' }, open });
    expect(targets).toMatchObject([
      { kind: 'rest', url: new URL('https://elsewhere/gatekeeper'), token: SECRET },
      { kind: 'hazelcast', address: 'hazelcast://a:1,b:2/c', isOnCommandLine: true },
      { kind: 'redis', address: 'rediss://a', isOnCommandLine: false },
    ]);
  });
});

describe.each(['over HTTP', 'directly'])('wrong input, %s', (way) => {
  const cluster = useMemoryCluster();
  const start = useConsoles();
  const LONG = 'x'.repeat(300);
  const names = ['', LONG, 'a\nb'];

  const calls = [
    ...names.flatMap((name) => [
      ['explain', name],
      ['edit', name, '--permits', '2'],
      ['reset', name, '--expected-revision', '1'],
      ['remove', name],
      ['revoke', name],
      ['run', name],
      ['audit', name],
      ['history', name],
      ['maintenance', 'list', name],
      ['maintenance', 'end', name],
      ['maintenance', 'start', name, '.*'],
    ]),
    ...['explain', 'cancel', 'retry', 'cancel-group', 'submit'].flatMap((action) =>
      ['', 'order-7', `mail:${LONG}${LONG}`].map((id) => ['tasks', action, id]),
    ),
    ['tasks', 'list', '--type', 'bad type'],
    ...['pause', 'resume', 'reset'].flatMap((verb) => [
      [verb, '('],
      [verb, 'a\nb'],
    ]),
    ['reset', 'job', '--expected-revision', '1', '--dry-run'],
    ['undo', 'zz!'],
    ['audit', '--limit', '20000'],
    ['history', '--limit', '20000'],
    ['history', '--job', 'x'.repeat(1001)],
  ];

  const outcomeOf = async (args: readonly string[]) => {
    const { store, gatekeeper } = cluster();
    const { url } = way === 'directly' ? { url: '' } : await start({ store });
    const options = { open: openOperator, env: { GATEKEEPER_URL: url, GATEKEEPER_TOKEN: TOKENS.define } };
    return way === 'directly' ? gatekeeper(args) : call(args, options);
  };

  it.each(calls.map((args) => [args]))('ends with 2: %j', async (args) => {
    const { exitCode, out, err } = await outcomeOf(args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).not.toBe('');
  });

  const patterns = ['', LONG].flatMap((pattern) => ['pause', 'resume', 'reset'].map((verb) => [verb, pattern]));

  it.each(patterns.map((args) => [args]))('ends with 3, because a pattern may match nothing: %j', async (args) => {
    const { exitCode, out, err } = await outcomeOf(args);
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: '' });
    expect(err).not.toBe('');
  });
});

describe('the exit code of a refusal', () => {
  it.each(Object.entries(PROBLEMS))('is the same over HTTP and directly: %s', (code, [status]) => {
    const direct = Object.assign(new Error(), { code });
    expect(exitCodeOf(direct)).toBe(exitCodeOf(new RemoteProblem(status, code, '')));
  });

  it.each([
    [new UnknownOutcomeError('no answer'), EXIT.unreachable],
    [new CorruptRecordError('it is not JSON'), EXIT.conflict],
    [Object.assign(new Error(), { code: 'constructor' }), EXIT.failed],
  ])('is one of the table: %s', (error, exitCode) => expect(exitCodeOf(error)).toBe(exitCode));
});
