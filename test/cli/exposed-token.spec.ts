import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call } from './command-line.js';

const TOKEN = 'a-secret-token-0123456789';
const READABLE = /^gatekeeper: warning: other users of this machine .*\btoken-[\w-]+: .* chmod 600/m;

describe('the command line warns', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-token-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const errOf = async (url: string, mode: number) => {
    const path = join(folder, `token-${mode.toString(8)}`);
    await writeFile(path, TOKEN);
    await chmod(path, mode);
    const { err } = await call(['status', '--url', url, '--token-file', path]);
    expect(err).not.toContain(TOKEN);
    return err;
  };

  it.each([0o644, 0o604, 0o602])('of a token file that others may read or change: %o', async (mode) => {
    expect(await errOf('https://host/gatekeeper', mode)).toMatch(READABLE);
  });

  it('of such a token file that a context names, unless another token is used', async () => {
    const token = join(folder, 'token-of-context');
    await writeFile(token, TOKEN);
    await chmod(token, 0o644);
    const config = join(folder, 'config.json');
    const contexts = { staging: { url: 'https://host/gatekeeper', tokenFile: 'token-of-context' } };
    await writeFile(config, JSON.stringify({ current: 'staging', contexts }));
    const env = { GATEKEEPER_CONFIG: config };

    const { err } = await call(['status'], { env });
    expect([err, err]).toEqual([expect.stringMatching(READABLE), expect.stringContaining('token-of-context: ')]);
    expect((await call(['status', '--token', TOKEN], { env })).err).not.toContain('warning');
  });

  it('of a token that goes over plain http to another host', async () => {
    for (const url of ['http://host/gatekeeper', 'http://10.0.0.1/gatekeeper', 'http://127.0.0.1.evil.example/']) {
      expect(await errOf(url, 0o600)).toMatch(/^gatekeeper: warning: .* without encryption.*https/m);
    }
  });

  it.each([
    'https://host/gatekeeper',
    'http://localhost:3000/gatekeeper',
    'http://127.1.2.3/gatekeeper',
    'http://[::1]:3000/',
  ])('of nothing where only its owner reads the file and %s is asked', async (url) => {
    expect(await errOf(url, 0o600)).not.toContain('warning');
    expect(await errOf(url, 0o640)).not.toContain('warning');
  });

  it.each([
    ['redis://ann:s3cret@host:6379', true],
    ['postgres://host/app?password=s3cret', true],
    ['postgres://ann@host/app', false],
    ['hazelcast://host:5701', false],
  ])('of a password on the command line, in %s', async (address, isExposed) => {
    const warning = /^gatekeeper: warning: .*password of --store .*GATEKEEPER_STORE/m;
    const { err } = await call(['status', '--store', address]);
    expect(warning.test(err)).toBe(isExposed);
    expect(err).not.toContain('s3cret');
    expect((await call(['status'], { env: { GATEKEEPER_STORE: address } })).err).not.toContain('warning');
  });

  it('of a password in a file of contexts that others may read', async () => {
    const config = join(folder, 'contexts.json');
    const contexts = { cache: { store: 'redis://ann:s3cret@host' } };
    await writeFile(config, JSON.stringify({ current: 'cache', contexts }));
    const env = { GATEKEEPER_CONFIG: config };
    await chmod(config, 0o644);
    expect((await call(['status'], { env })).err).toMatch(/warning: .*contexts\.json, which has a password.*chmod 600/);
    await chmod(config, 0o600);
    expect((await call(['status'], { env })).err).not.toContain('warning');
  });
});
