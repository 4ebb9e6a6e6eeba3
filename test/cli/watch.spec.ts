import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { OPERATIONS, type Sent } from '../../lib/cli/operator/operator.js';
import { eventually } from '../contract/eventually.js';
import { type CallOptions, type Opening, answering, instead, over } from './command-line.js';
import { removed } from '../support/removed.js';
import { type TestCluster, useMemoryCluster } from './memory-cluster.js';

/** Nothing but hints wakes it within the time that a test may take. */
const BY_HINTS_ALONE = ['--interval', '1h'];
const OFTEN = ['--interval', '20ms'];

describe('watch', () => {
  const cluster = useMemoryCluster();

  it('shows the present state, then a line for each change, until interrupted', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const watching = watch(gatekeeper, OFTEN);
    await watching.hears(/^nightly-export +free .*\nreport +free/m);

    const permit = (await app.tryAcquire('report'))!;
    await watching.hears(/Z {2}report {2}slot 0 is held by production\/app1, token \d+\n/);
    await permit.release();
    await watching.hears(/report {2}slot 0 is no longer held by production\/app1\n/);
    await app.definitions.pause('nightly-export', { by: 'bob', reason: 'maintenance' });
    await watching.hears(/nightly-export {2}revision 2, pause by bob: maintenance\n/);
    await removed(app, 'nightly-export');
    await watching.hears(/nightly-export {2}removed\n/);

    expect(await watching.interrupted()).toMatchObject({ exitCode: 0, err: '' });
  });

  it('looks at once when it hears of a change', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const watching = watch(gatekeeper, BY_HINTS_ALONE);
    await watching.hears(/^report/m);
    await app.definitions.edit('report', { permits: 5 }, { by: 'bob' });
    await watching.hears(/revision 2, edit by bob/);
    expect((await watching.interrupted()).exitCode).toBe(0);
  });

  it('hears of changes again after its hints broke off, and of those in between', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    let heard = 0;
    const open: Opening = async (target, manner) => {
      const operator = await over(store)(target, manner);
      const hints: typeof operator.hints = async (onHint, signal) => {
        if (++heard === 1) return;
        if (heard === 2) throw new StoreUnavailableError('no member answers');
        await app.definitions.edit('report', { permits: 5 }, { by: 'bob' });
        return operator.hints(onHint, signal);
      };
      return instead(operator, { hints });
    };
    const watching = watch(gatekeeper, BY_HINTS_ALONE, { open });
    await watching.hears(/revision 2, edit by bob/);
    await app.definitions.edit('report', { permits: 6 }, { by: 'carol' });
    await watching.hears(/revision 3, edit by carol/);
    expect(await watching.interrupted()).toMatchObject({ exitCode: 0, err: '' });
  });

  it('writes a line of JSON for each change with --json, of those that match', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const watching = watch(gatekeeper, ['report', '--json', ...OFTEN]);
    await watching.hears(/"status"/);
    await app.definitions.edit('nightly-export', { duration: '11m' });
    await app.tryAcquire('report');
    await watching.hears(/"granted"/);
    const { out } = await watching.interrupted();
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { at: expect.any(Number), status: [{ name: 'report' }] },
      { at: expect.any(Number), semaphore: 'report', change: 'granted' },
    ]);
  });

  it('tells once that the target went away, looks again, and tells that it is back', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    let isAway = false;
    let looks = 0;
    const open: Opening = async (target, manner) => {
      const operator = await over(store)(target, manner);
      const parts = async (sent: Sent) => {
        looks++;
        if (isAway) throw new StoreUnavailableError('no member answers');
        return operator.call(OPERATIONS.semaphoreParts, sent);
      };
      return answering(operator, OPERATIONS.semaphoreParts, parts);
    };
    const watching = watch(gatekeeper, OFTEN, { open });
    await watching.hears(/^report/m);

    isAway = true;
    const then = looks;
    await eventually('it has looked several times', () => looks > then + 3);
    await app.tryAcquire('report');
    isAway = false;

    await watching.hears(/report {2}slot 0 is held/);
    const { exitCode, err } = await watching.interrupted();
    expect({ exitCode, err }).toEqual({
      exitCode: 0,
      err: 'gatekeeper: no member answers; trying again until interrupted\ngatekeeper: the target answers again\n',
    });
  });

  it('asks only for what changed since its last look', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    const loaded: string[][] = [];
    const open: Opening = async (target, manner) => {
      const operator = await over(store)(target, manner);
      const parts = async (sent: Sent) => {
        const answer = await operator.call(OPERATIONS.semaphoreParts, sent);
        loaded.push(answer.changed.flatMap(({ items }) => items.map(({ name }) => name)));
        return answer;
      };
      return answering(operator, OPERATIONS.semaphoreParts, parts);
    };
    const watching = watch(gatekeeper, OFTEN, { open });
    await watching.hears(/^report/m);
    await app.definitions.edit('report', { permits: 5 }, { by: 'bob' });
    await watching.hears(/revision 2, edit by bob/);
    expect((await watching.interrupted()).exitCode).toBe(0);
    const [first, ...later] = loaded;
    expect(first!.toSorted()).toEqual(['nightly-export', 'report']);
    expect(later.flat()).not.toContain('nightly-export');
  });

  it('ends with 3 when no name matches: a misspelt name would be watched in silence', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    const { exitCode, out, err } = await gatekeeper(['watch', 'reprot']);
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: '' });
    expect(err).toContain(`no semaphore's whole name matches "reprot"`);
  });

  it('ends at once when interrupted, also while an answer is awaited', async () => {
    const { store, node, gatekeeper } = cluster();
    await node();
    let isAsked = false;
    const parts = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    const open: Opening = async (...to) => answering(await over(store)(...to), OPERATIONS.semaphoreParts, parts);
    const watching = watch(gatekeeper, [], { open });
    await eventually('it asks', () => isAsked);
    expect(await watching.interrupted()).toEqual({ exitCode: 0, out: '', err: '' });
  });
});

function watch(gatekeeper: TestCluster['gatekeeper'], args: readonly string[], options: CallOptions = {}) {
  const interruption = new AbortController();
  let heard = '';
  const onOut = (text: string) => void (heard += text);
  const outcome = gatekeeper(['watch', ...args], { signal: interruption.signal, onOut, ...options });
  return {
    hears: (text: RegExp) => eventually(`watch says ${text}`, () => text.test(heard)),
    interrupted: () => {
      interruption.abort();
      return outcome;
    },
  };
}
