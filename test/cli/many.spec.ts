import { type Gatekeeper, type StoreDefinition, StoreUnavailableError } from 'nestjs-gatekeeper';
import { type BodyOf, OPERATIONS, type Sent } from '../../lib/cli/operator/operator.js';
import { type Opening, answering, over } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

/** A node that may run the jobs after the migration. */
const TARGET = { group: 'dr.site', acquirer: 'dr1', definitions: [] };
const TO_DR = ['--from-group', 'production', '--to-group', 'dr.site'];

describe('changes of many', () => {
  const cluster = useMemoryCluster();

  const jobs = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `job-${String(index).padStart(2, '0')}`,
      groupPattern: 'production',
      duration: '5m',
    }));

  const groupsOf = async (app: Gatekeeper) =>
    Object.fromEntries((await app.state()).semaphores.map(({ name, definition }) => [name, definition?.groupPattern]));

  it('shows what a migration would do, whom it moves and who may take over, and does nothing', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await node({ group: 'dr.site', acquirer: 'dr1' });
    await app.tryAcquire('report');

    const { exitCode, out } = await gatekeeper(['migrate', ...TO_DR]);

    expect(exitCode).toBe(0);
    expect(out).toMatch(/^NAME +GROUP +ACQUIRER +MOVES AWAY FROM +COULD TAKE OVER$/m);
    expect(out).toMatch(/^report +production -> dr\\\.site +\.\* +app1 +dr\.site\/dr1$/m);
    expect(out).toMatch(/^nightly-export .* none$/m);
    expect(out).toMatch(/^1 of them would have no living node to run on$/m);
    expect(out).toMatch(/^2 to migrate; nothing was changed: add --yes to make the changes$/m);
    expect(await groupsOf(app)).toEqual({ 'nightly-export': 'production', report: 'production' });
  });

  it('migrates with --yes, and finds nothing left to do the next time', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await node(TARGET);

    const migrated = await gatekeeper(['migrate', ...TO_DR, '--reason', 'drill', '--yes']);

    expect(migrated).toEqual({ exitCode: 0, out: 'migrated 2\n', err: '' });
    expect(await groupsOf(app)).toEqual({ 'nightly-export': 'dr\\.site', report: 'dr\\.site' });
    expect(await app.definitions.get('report')).toMatchObject({
      change: { kind: 'migrate', by: 'ann', reason: 'drill' },
    });
    const again = await gatekeeper(['migrate', ...TO_DR, '--yes']);
    expect(again).toEqual({
      exitCode: 0,
      out: 'nothing to migrate: all matching semaphores have these patterns\n',
      err: '',
    });
  });

  it('refuses a migration after which no living node could run anything, unless that is meant', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const refused = await gatekeeper(['migrate', ...TO_DR, '--yes']);
    expect(refused).toMatchObject({ exitCode: 4, out: '' });
    expect(refused.err).toMatch(
      /^gatekeeper: no living node could run any of 2: nightly-export, report\. Nothing was changed/,
    );
    expect(await groupsOf(app)).toEqual({ 'nightly-export': 'production', report: 'production' });
    const meant = await gatekeeper(['migrate', ...TO_DR, '--yes', '--without-candidates']);
    expect(meant).toEqual({ exitCode: 0, out: 'migrated 2\n', err: '' });
  });

  it("takes a group's name as it is: not as a pattern", async () => {
    const { node, gatekeeper } = cluster();
    await node();
    await node(TARGET);
    await gatekeeper(['migrate', ...TO_DR, '--yes']);
    const explain = (group: string) => gatekeeper(['explain', 'report', '--group', group]);
    expect((await explain('dr.site')).out).toContain('outcome   granted');
    expect((await explain('dr-site')).out).toContain('outcome   denied');
  });

  it('migrates only names and patterns that are given', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await node({ acquirer: 'app3', definitions: [] });
    await gatekeeper(['migrate', '--names', 'rep.*', '--acquirer-pattern', 'app[34]', '--yes']);
    expect((await app.definitions.get('report'))?.definition).toMatchObject({
      groupPattern: 'production',
      acquirerPattern: 'app[34]',
    });
    expect((await app.definitions.get('nightly-export'))?.revision).toBe(1);
  });

  it('goes in batches and tells how far it has come, on standard error alone', async () => {
    const { node, gatekeeper } = cluster();
    await node({ definitions: jobs(25) });
    await node(TARGET);
    const migrate = ['migrate', ...TO_DR, '--yes', '--batch', '10', '--json'];

    const { exitCode, out, err } = await gatekeeper([...migrate, '--progress']);

    expect(exitCode).toBe(0);
    expect(err).toBe('migrated 10 of 25, 0 failed\nmigrated 20 of 25, 0 failed\nmigrated 25 of 25, 0 failed\n');
    expect(JSON.parse(out)).toMatchObject({ dryRun: false, failed: [], remaining: 0 });
    expect(JSON.parse(out).migrated).toHaveLength(25);
  });

  it('writes progress anew on one line of a terminal, and clears it', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    await node(TARGET);
    const { err } = await gatekeeper(['migrate', ...TO_DR, '--yes'], { isErrTerminal: true });
    expect(err).toBe('\r\u001B[Kmigrated 2 of 2, 0 failed\r\u001B[K');
  });

  it('reports each that failed, goes on with the others, and ends with 1', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node({ definitions: jobs(8) });
    await node(TARGET);
    const refused = new Set(['job-00', 'job-01', 'job-05']);
    const open = over(meddled(store, (name) => refuseIf(refused.has(name))));

    const outcome = await gatekeeper(['migrate', ...TO_DR, '--yes', '--batch', '3'], { open });

    expect(outcome).toEqual({
      exitCode: 1,
      out: 'migrated 5\n',
      err: [...refused].map((name) => `gatekeeper: ${name}: refused\n`).join(''),
    });
    const groups = await groupsOf(app);
    expect(Object.keys(groups).filter((name) => groups[name] === 'production')).toEqual([...refused]);
  });

  it('ends with 6 when the store refuses every change of the first batch', async () => {
    const { store, node, gatekeeper } = cluster();
    await node({ definitions: jobs(6) });
    await node(TARGET);
    const open = over(meddled(store, () => refuseIf(true)));
    const { exitCode, err } = await gatekeeper(['migrate', ...TO_DR, '--yes', '--batch', '2'], { open });
    expect([exitCode, err]).toEqual([6, 'gatekeeper: refused\n']);
  });

  it('stops between two batches when interrupted, says so, and goes on the next time', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node({ definitions: jobs(9) });
    await node(TARGET);
    const interruption = new AbortController();
    const open = over(meddled(store, () => interruption.abort()));
    const args = ['migrate', ...TO_DR, '--yes', '--batch', '4'];

    const stopped = await gatekeeper(args, { open, signal: interruption.signal });

    expect(stopped).toEqual({
      exitCode: 1,
      out: 'migrated 4\n',
      err: 'gatekeeper: stopped with 5 left: run the same command again to continue\n',
    });
    expect((await gatekeeper(args)).out).toBe('migrated 5\n');
    expect(new Set(Object.values(await groupsOf(app)))).toEqual(new Set(['dr\\.site']));
  });

  it('says how far it came when the target goes away in the middle, and ends with 6', async () => {
    const { store, node, gatekeeper } = cluster();
    await node({ definitions: jobs(9) });
    await node(TARGET);
    let calls = 0;
    const open: Opening = async (target, manner) => {
      const operator = await over(store)(target, manner);
      const migrate = ({ body }: Sent) => {
        const request = body as BodyOf<'migrate'>;
        if (!request.dryRun && ++calls === 3) return Promise.reject(new StoreUnavailableError('the store is away'));
        return operator.call(OPERATIONS.migrate, { body: request });
      };
      return answering(operator, OPERATIONS.migrate, migrate);
    };

    const outcome = await gatekeeper(['migrate', ...TO_DR, '--yes', '--batch', '2'], { open });

    expect(outcome).toEqual({
      exitCode: 6,
      out: '',
      err: 'gatekeeper: migrated 4 before this error; run the same command again to continue:\ngatekeeper: the store is away\n',
    });
  });
});

function refuseIf(isRefused: boolean): void {
  if (isRefused) throw new StoreUnavailableError('refused');
}

/** The same records, with something that happens, or throws, before each write of one. */
function meddled(definition: StoreDefinition, beforeWrite: (name: string) => void): StoreDefinition {
  return {
    kind: definition.kind,
    open: (options) => {
      const store = definition.open(options);
      const write = store.records.compareAndSet.bind(store.records);
      store.records.compareAndSet = async (key, ...rest) => {
        beforeWrite(key.replace('semaphore:', ''));
        return write(key, ...rest);
      };
      return store;
    },
  };
}
