import { DEFINITIONS } from '../../../test/cli/memory-cluster.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { LiveCluster, TOKENS } from './live-cluster.js';

describeOnHazelcast('what may go wrong on the way', () => {
  let cluster: LiveCluster;
  beforeAll(async () => {
    cluster = await LiveCluster.start(DEFINITIONS);
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const http = (args: string[], env: Record<string, string> = {}) => cluster.process('over HTTP', args, env);

  it('a wrong token ends with 5, and is not shown', async () => {
    const wrong = 'wrong-token-0123456789';
    const url = cluster.target('over HTTP').slice(0, 2);
    for (const given of [['--token', wrong], []]) {
      const { exitCode, stdout, stderr } = await cluster.bare(['status', ...url, ...given, '--verbose']);
      expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
      expect(stderr).toMatch(/^gatekeeper: .*--token-file/);
      expect(stderr).not.toContain(wrong);
    }
  });

  it('a role that is too low ends with 5, and says which is needed', async () => {
    const url = cluster.target('over HTTP').slice(0, 2);
    const { exitCode, stderr } = await cluster.bare(['edit', 'report', '--permits', '9', ...url], {
      GATEKEEPER_TOKEN: TOKENS.view,
    });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/define/);
    expect((await cluster.gatekeeper.definitions.get('report'))?.definition.permits).toBe(2);
  });

  it('an address with something else on it ends with 6, and says what to give', async () => {
    const url = new URL(cluster.target('over HTTP')[1]!);
    for (const path of ['/', '/elsewhere']) {
      const { exitCode, stderr } = await cluster.bare(['status', '--url', url.origin + path]);
      expect(exitCode).toBe(6);
      expect(stderr).toMatch(/^gatekeeper: there is no console at .*: give its address with its path/);
    }
  });

  it('a slash at the end of the address is nothing to it', async () => {
    const url = cluster.target('over HTTP')[1]!;
    const { exitCode } = await cluster.bare(['status', '--url', `${url}/`], { GATEKEEPER_TOKEN: TOKENS.view });
    expect(exitCode).toBe(0);
  });

  it('what a definition can not be ends with 2, and names the field', async () => {
    const { exitCode, stderr } = await http(['edit', 'report', '--duration', '1s']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/\bduration: 1000 ms .*clockTolerance/);
  });

  it('a cluster of another name, and one that has gone, end with 6', async () => {
    const address = cluster.server.address.replace(/[^/]+$/, 'other');
    const other = await cluster.bare(['status', '--store', address, '--timeout', '1s']);
    expect(other).toMatchObject({ exitCode: 6, stdout: '' });
    expect(other.stderr).toMatch(/^gatekeeper: .*"other" at .* 1000 ms/);

    await cluster.server.kill();
    const gone = await cluster.process('directly', ['status', '--timeout', '1s']);
    expect(gone).toMatchObject({ exitCode: 6, stdout: '' });
    const asked = await http(['edit', 'report', '--permits', '3']);
    expect(asked).toMatchObject({ exitCode: 6, stdout: '' });
    const shown = await http(['status']);
    // Over the console the node shows what it knew last, and says so.
    expect(shown).toMatchObject({ exitCode: 6, stdout: expect.stringMatching(/^NOTHING .*\nNAME /) });
  });
});
