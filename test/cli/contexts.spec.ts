import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveTarget } from '../../lib/cli/options/target.js';
import { call } from './command-line.js';

const TOKEN = 'token-of-the-context-0123456789';

describe('contexts of the command line', () => {
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-contexts-'));
    await writeFile(join(folder, 'token'), `${TOKEN}\n`, { mode: 0o600 });
    const contexts = {
      staging: { url: 'https://staging.example.org/gatekeeper', tokenFile: 'token' },
      production: { store: 'hazelcast://hz-1:5701,hz-2:5701/prod', storeOptions: 'production.json' },
      database: { store: 'postgres://ann:s3cret@db/app' },
      empty: {},
    };
    await file('production.json', { mapName: 'permits' });
    env = { GATEKEEPER_CONFIG: await file('config.json', { current: 'production', contexts }) };
  });
  afterAll(() => rm(folder, { recursive: true }));

  const file = async (name: string, content: unknown) => {
    const path = join(folder, name);
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  it('are named by --context; files in them are looked for beside the file of contexts', () => {
    expect(resolveTarget({ context: 'staging' }, env)).toMatchObject({
      kind: 'rest',
      url: new URL('https://staging.example.org/gatekeeper'),
      token: TOKEN,
    });
  });

  it('are used as the current one, or as the environment says, where nothing else is named', () => {
    const production = {
      kind: 'hazelcast',
      address: 'hazelcast://hz-1:5701,hz-2:5701/prod',
      further: { mapName: 'permits' },
    };
    expect(resolveTarget({}, env)).toMatchObject(production);
    expect(resolveTarget({}, { ...env, GATEKEEPER_CONTEXT: 'staging' })).toMatchObject({ kind: 'rest' });
    const elsewhere = { ...env, GATEKEEPER_STORE: 'redis://other:6379' };
    expect(resolveTarget({}, elsewhere)).toMatchObject({ kind: 'redis', address: 'redis://other:6379' });
    expect(resolveTarget({ context: 'production' }, elsewhere)).toMatchObject(production);
  });

  it('are whole; a token on the command line counts before theirs', () => {
    expect(resolveTarget({ context: 'staging', token: 'mine' }, env)).toMatchObject({ token: 'mine' });
  });

  it('are listed, the current one marked', async () => {
    const { exitCode, out } = await call(['contexts'], { env });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^ +staging +https:\/\/staging\.example\.org\/gatekeeper$/m);
    expect(out).toMatch(/^\* +production +hazelcast:\/\/hz-1:5701,hz-2:5701\/prod$/m);
    const json = (await call(['contexts', '--json'], { env })).out;
    expect(JSON.parse(json).contexts.slice(1, 3)).toEqual([
      {
        name: 'production',
        isCurrent: true,
        store: 'hazelcast://hz-1:5701,hz-2:5701/prod',
        storeOptions: 'production.json',
      },
      { name: 'database', isCurrent: false, store: 'postgres://…@db/app' },
    ]);
    expect(out + json).not.toContain('s3cret');
  });

  it('are none without a file', async () => {
    const { exitCode, out } = await call(['contexts'], { env: { XDG_CONFIG_HOME: folder } });
    expect(exitCode).toBe(0);
    expect(out).toContain(join(folder, 'gatekeeper', 'config.json'));
  });

  it.each([
    ['an unknown name', { context: 'prodution' }, /no context "prodution" in .*: it has "staging", "production"/],
    ['two targets', { context: 'staging', url: 'https://other.example.org' }, /leave one of them out/],
    ['a context without a target', { context: 'empty' }, /--url .*--store/],
  ])('are refused, given %s', (_, options, sentence) => {
    expect(() => resolveTarget(options, env)).toThrow(sentence);
  });

  it('are refused when the environment names a file that is not there, unless the target is given otherwise', async () => {
    const missing = { GATEKEEPER_CONFIG: join(folder, 'confg.json') };
    const { exitCode, err } = await call(['contexts'], { env: missing });
    expect(exitCode).toBe(2);
    expect(err).toMatch(/GATEKEEPER_CONFIG names ".*confg\.json", and there is no such file/);
    expect(() => resolveTarget({}, missing)).toThrow(/confg\.json/);
    expect(resolveTarget({ url: 'https://other.example.org' }, missing)).toMatchObject({ kind: 'rest' });
  });

  it.each([
    ['is not JSON', '{', /can't be read/],
    ['has a field that is unknown', { contexts: { a: { token: 'secret' } } }, /contexts\.a.*token/],
    ['has no contexts', {}, /contexts/],
  ])('are refused when the file %s', async (_, content, sentence) => {
    const path = await file('bad.json', content);
    const { exitCode, err } = await call(['contexts'], { env: { GATEKEEPER_CONFIG: path } });
    expect(exitCode).toBe(2);
    expect(err).toMatch(sentence);
    expect(err).not.toContain('secret');
  });
});
