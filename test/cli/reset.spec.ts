import { openOperator } from '../../lib/cli/session/open-operator.js';
import { TOKENS, useConsoles } from '../console/consoles.js';
import { removed } from '../support/removed.js';
import { call } from './command-line.js';

const definitions = ['a-1', 'a-2', 'b-1'].map((name) => ({ name, duration: '10s' }));

describe('reset with a pattern', () => {
  const start = useConsoles();

  async function edited() {
    const { url, gatekeeper } = await start({ gatekeeper: { definitions } });
    for (const name of ['a-1', 'b-1']) await gatekeeper.definitions.edit(name, { permits: 5 }, { by: 'ann' });
    const cli = (args: string[], token: string = TOKENS.define) =>
      call(args, { open: openOperator, env: { GATEKEEPER_URL: url, GATEKEEPER_TOKEN: token } });
    const permits = async () => (await gatekeeper.state()).semaphores.map(({ definition }) => definition?.permits);
    return { cli, gatekeeper, permits };
  }

  it("takes an operator's edits back to the code, and finds nothing left to do the next time", async () => {
    const { cli, permits } = await edited();
    const reset = () => cli(['reset', 'a-.*', '--reason', 'after the flood']);
    expect(await reset()).toEqual({ exitCode: 0, out: 'reset 1: a-1\n', err: '' });
    expect(await permits()).toEqual([1, 1, 5]);
    expect(await reset()).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^nothing to do: /) });
  });

  it('brings back what was removed', async () => {
    const { cli, gatekeeper, permits } = await edited();
    await removed(gatekeeper, 'a-2');
    expect(await cli(['reset', 'a-2'])).toEqual({ exitCode: 0, out: 'reset 1: a-2\n', err: '' });
    expect(await permits()).toEqual([5, 1, 5]);
  });

  it('shows with --dry-run what it would reset, also what was removed, and resets nothing', async () => {
    const { cli, gatekeeper, permits } = await edited();
    await removed(gatekeeper, 'a-2');
    const { out } = await cli(['reset', '.*', '--dry-run', '--json']);
    expect(JSON.parse(out)).toEqual({ dryRun: true, reset: ['a-1', 'a-2', 'b-1'] });
    expect((await permits()).filter((count) => count === 5)).toHaveLength(2);
  });

  it('refuses --dry-run with a revision, and changes nothing', async () => {
    const { cli, permits } = await edited();
    expect(await cli(['reset', 'a-1', '--expected-revision', '2', '--dry-run'])).toMatchObject({
      exitCode: 2,
      out: '',
    });
    expect(await permits()).toEqual([5, 1, 5]);
    expect((await cli(['reset', 'a-1', '--expected-revision', '2'])).exitCode).toBe(0);
    expect(await permits()).toEqual([1, 1, 5]);
  });

  it.each(['view', 'operate'] as const)('is refused to the role %s', async (role) => {
    const { cli, permits } = await edited();
    expect(await cli(['reset', '.*'], TOKENS[role])).toMatchObject({ exitCode: 5, out: '' });
    expect(await permits()).toEqual([5, 1, 5]);
  });

  it('ends with 3 if no code has what matches', async () => {
    const { cli } = await edited();
    expect(await cli(['reset', 'nothing'])).toMatchObject({ exitCode: 3, out: '' });
  });
});
