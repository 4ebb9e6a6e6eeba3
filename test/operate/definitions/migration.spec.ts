import {
  InvalidOptionsError,
  type MigrationProgress,
  NothingMatchesError,
  StoreUnavailableError,
} from 'nestjs-gatekeeper';
import { JOB, type TestCluster, type TestNode, keyOf, shardKeyOf, useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const named = (name: string, groupPattern = 'production') => ({ ...JOB, name, groupPattern });
const FOUR = [named('a.one'), named('a.two'), named('b.one'), named('b.other', 'test')];
const TO_DR = { to: { groupPattern: 'dr' } };

async function patterns({ gatekeeper }: TestNode): Promise<Record<string, string | undefined>> {
  const { semaphores } = await gatekeeper.state();
  return Object.fromEntries(semaphores.map(({ name, definition }) => [name, definition?.groupPattern]));
}

/** A node of production, one of the recovery site, and an operator's. */
async function sites(cluster: TestCluster) {
  const options = { definitions: FOUR, heartbeat: '10s' };
  const production = await cluster.node({ ...options, group: 'production' });
  const recovery = await cluster.node({ ...options, group: 'dr' });
  return { production, recovery };
}

describe('the plan of a migration', () => {
  const cluster = useCluster();

  it('names each step by what is there, what will be, who moves and where to', async () => {
    const { production, recovery } = await sites(cluster());
    await production.gatekeeper.tryAcquire('a.two');
    const { steps, remaining } = await recovery.gatekeeper.definitions.planMigration({ names: 'a\\..*', ...TO_DR });
    expect(remaining).toBe(0);
    const to = { groupPattern: 'dr', acquirerPattern: '.*' };
    const from = { groupPattern: 'production', acquirerPattern: '.*' };
    const candidates = [recovery.gatekeeper.node];
    expect(steps).toEqual([
      { name: 'a.one', revision: 1, from, to, moving: [], candidates, candidateCount: 1, outcome: 'planned' },
      {
        name: 'a.two',
        revision: 1,
        from,
        to,
        moving: [expect.objectContaining({ acquirer: 'app1', group: 'production', isMine: false })],
        candidates,
        candidateCount: 1,
        outcome: 'planned',
      },
    ]);
  });

  it('names some of many nodes in each step, and counts all', async () => {
    const nodes = cluster();
    const { recovery } = await sites(nodes);
    for (let more = 0; more < 11; more++) await nodes.node({ group: 'dr', heartbeat: '10s' });
    const { steps } = await recovery.gatekeeper.definitions.planMigration({ names: 'a\\..*', ...TO_DR });
    expect(steps.map(({ candidates }) => candidates.length)).toEqual([10, 10]);
    expect(steps.map(({ candidateCount }) => candidateCount)).toEqual([12, 12]);
  });

  it('does not list a holder whose permit is over, even before it is dropped', async () => {
    const nodes = cluster();
    const { production, recovery } = await sites(nodes);
    await production.gatekeeper.tryAcquire('a.two');
    nodes.time.freeze(10_001);
    const { steps } = await recovery.gatekeeper.definitions.planMigration({ names: 'a.two', ...TO_DR });
    expect(steps).toMatchObject([{ name: 'a.two', moving: [] }]);
    expect((await nodes.record('a.two')).permits).toHaveLength(1);
  });

  it('writes nothing', async () => {
    const nodes = cluster();
    const { recovery } = await sites(nodes);
    const before = await allTexts(nodes.raw.records, 'semaphore:');
    await recovery.gatekeeper.definitions.planMigration(TO_DR);
    expect(await allTexts(nodes.raw.records, 'semaphore:')).toEqual(before);
  });

  it('takes only names that match as a whole, and only what lets the group through now', async () => {
    const { recovery } = await sites(cluster());
    const { definitions } = recovery.gatekeeper;
    const namesOf = async (request: { names?: string; group?: string }) =>
      (await definitions.planMigration({ ...request, ...TO_DR })).steps.map(({ name }) => name);
    expect(await namesOf({})).toEqual(['a.one', 'a.two', 'b.one', 'b.other']);
    await expect(namesOf({ names: 'one' })).rejects.toThrow(NothingMatchesError);
    expect(await namesOf({ names: '.*one' })).toEqual(['a.one', 'b.one']);
    expect(await namesOf({ group: 'production' })).toEqual(['a.one', 'a.two', 'b.one']);
    expect(await namesOf({ group: 'production', names: 'b.*' })).toEqual(['b.one']);
    expect(await namesOf({ group: 'nowhere' })).toEqual([]);
  });

  it('has no step for what was removed, or can not be read', async () => {
    const nodes = cluster();
    const { recovery } = await sites(nodes);
    await removed(recovery.gatekeeper, 'a.one');
    await nodes.overwrite('garbage', 'b.one');
    const { steps, unreadable } = await recovery.gatekeeper.definitions.planMigration(TO_DR);
    expect(steps.map(({ name }) => name)).toEqual(['a.two', 'b.other']);
    expect(unreadable).toEqual([{ name: 'b.one', error: expect.stringContaining('b.one') }]);
    expect(await recovery.gatekeeper.definitions.migrate(TO_DR)).toMatchObject({ unreadable });
  });

  it.each([
    ['nothing', {} as never, /to: is missing: give \{ groupPattern, acquirerPattern \}/],
    ['no target', { to: {} }, /to: has neither groupPattern nor acquirerPattern/],
    ['a broken name pattern', { names: '(', ...TO_DR }, /names: "\("/],
    ['a broken target', { to: { groupPattern: '[' } }, /to\.groupPattern: "\["/],
    ['an unknown field', { ...TO_DR, name: 'a' }, / name: /],
  ])('is refused for %s', async (_, request, message) => {
    const { gatekeeper } = await cluster().node();
    const refused = gatekeeper.definitions.planMigration(request);
    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(message);
  });
});

describe('a migration', () => {
  const cluster = useCluster();

  it('puts the patterns in force, and says by whom and why', async () => {
    const nodes = cluster();
    const { production, recovery } = await sites(nodes);
    const request = { group: 'production', ...TO_DR };
    const { steps } = await recovery.gatekeeper.definitions.migrate(request, { by: 'ann', reason: 'flood' });
    expect(steps.map(({ outcome }) => outcome)).toEqual(['migrated', 'migrated', 'migrated']);
    expect(await patterns(production)).toEqual({ 'a.one': 'dr', 'a.two': 'dr', 'b.one': 'dr', 'b.other': 'test' });
    expect(await production.gatekeeper.run('a.one', () => 1)).toEqual({ executed: false, reason: 'group' });
    expect(await recovery.gatekeeper.run('a.one', () => 1)).toMatchObject({ executed: true });
    expect(await recovery.gatekeeper.definitions.get('a.one')).toMatchObject({
      revision: 2,
      change: { kind: 'migrate', by: 'ann', reason: 'flood' },
    });
    await nodes.time.advance(100);
    expect(await production.gatekeeper.audit.read(10)).toMatchObject(
      ['a.one', 'a.two', 'b.one'].map((semaphore) => ({
        action: 'migrate',
        semaphore,
        by: 'ann',
        reason: 'flood',
        revision: 2,
        from: { groupPattern: 'production' },
        to: { groupPattern: 'dr', acquirerPattern: '.*', duration: 10_000 },
      })),
    );
  });

  it('does so much at a time, and goes on when it is called again', async () => {
    const { recovery } = await sites(cluster());
    const { definitions } = recovery.gatekeeper;
    const first = await definitions.migrate(TO_DR, { limit: 3 });
    expect(first).toMatchObject({ steps: [{}, {}, {}], remaining: 1 });
    const second = await definitions.migrate(TO_DR, { limit: 3 });
    expect(second).toMatchObject({ steps: [{ name: 'b.other', outcome: 'migrated' }], remaining: 0 });
    expect(await definitions.migrate(TO_DR)).toMatchObject({ steps: [], remaining: 0 });
    expect(await definitions.get('a.one')).toMatchObject({ revision: 2 });
  });

  it('changes the pattern of afterwards of what is paused, which stays paused', async () => {
    const { recovery } = await sites(cluster());
    const { definitions } = recovery.gatekeeper;
    await definitions.pause('a.one', { reason: 'maintenance' });
    const { steps } = await definitions.migrate({ group: 'production', ...TO_DR });
    expect(steps).toContainEqual(
      expect.objectContaining({ name: 'a.one', from: { groupPattern: 'production', acquirerPattern: '.*' } }),
    );
    expect(await recovery.gatekeeper.run('a.one', () => 1)).toEqual({ executed: false, reason: 'paused' });
    expect(await definitions.get('a.one')).toMatchObject({ pause: { groupPattern: 'dr', reason: 'maintenance' } });
    await definitions.resume('a.one');
    expect(await recovery.gatekeeper.run('a.one', () => 1)).toMatchObject({ executed: true });
  });

  it('tells what failed and does the rest', async () => {
    const nodes = cluster();
    const { recovery } = await sites(nodes);
    // Between the plan and its step another operator edits one.
    const other = await nodes.node({ definitions: [] });
    let edited: Promise<unknown> | undefined;
    recovery.store.script = async (call, go) => {
      if (call !== 'compareAndSet') return go();
      edited ??= other.gatekeeper.definitions.edit('a.two', { permits: 2 }, { by: 'bob' });
      await edited;
      return go();
    };
    const told: MigrationProgress[] = [];
    const onProgress = (progress: MigrationProgress) => void told.push(progress);
    const { steps } = await recovery.gatekeeper.definitions.migrate(TO_DR, { onProgress });
    expect(steps.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      'a.one migrated',
      'a.two failed',
      'b.one migrated',
      'b.other migrated',
    ]);
    expect(steps[1]!.error).toMatch(/^semaphore "a.two" is at revision 2 \(edit by "bob" at .*\), not 1/);
    expect(told.map(({ done, total }) => `${done} of ${total}`)).toEqual(['1 of 4', '2 of 4', '3 of 4', '4 of 4']);
    expect(await recovery.gatekeeper.definitions.migrate(TO_DR)).toMatchObject({
      steps: [{ name: 'a.two', outcome: 'migrated' }],
    });
  });

  it('fails as a whole only where nothing can be read', async () => {
    const { gatekeeper, store } = await cluster().node();
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await expect(gatekeeper.definitions.migrate(TO_DR)).rejects.toThrow(StoreUnavailableError);
  });
});

describe('the pause of many', () => {
  const cluster = useCluster();

  it('pauses what is selected and not paused yet, and resumes it', async () => {
    const nodes = cluster();
    const { recovery } = await sites(nodes);
    const { definitions } = recovery.gatekeeper;
    await definitions.pause('a.two');
    const paused = await definitions.pauseAll({ names: 'a.*', by: 'ann', reason: 'update' });
    expect(paused).toEqual({ done: ['a.one'], failed: [], remaining: 0, bulk: expect.any(String) });
    expect(await definitions.get('a.one')).toMatchObject({ pause: { by: 'ann', reason: 'update' } });
    expect(await definitions.get('b.one')).not.toHaveProperty('pause');
    expect(await definitions.resumeAll()).toMatchObject({ done: ['a.one', 'a.two'] });
    expect(await patterns(recovery)).toMatchObject({ 'a.one': 'production', 'a.two': 'production' });
    expect(await definitions.resumeAll()).toMatchObject({ done: [], failed: [], remaining: 0 });
  });

  it('does so many at a time', async () => {
    const { recovery } = await sites(cluster());
    const { definitions } = recovery.gatekeeper;
    expect(await definitions.pauseAll({ limit: 3 })).toMatchObject({ done: ['a.one', 'a.two', 'b.one'], remaining: 1 });
    expect(await definitions.pauseAll({ limit: 3 })).toMatchObject({ done: ['b.other'], remaining: 0 });
    await expect(definitions.pauseAll({ limit: 0 })).rejects.toThrow(/limit: 0 semaphores are none/);
  });

  it('tells what failed and does the rest', async () => {
    const { recovery } = await sites(cluster());
    let failures = 1;
    recovery.store.script = (call, go, key = '') =>
      call === 'compareAndSet' && key.startsWith('semaphore:') && failures-- > 0
        ? Promise.reject(new StoreUnavailableError('away'))
        : go();
    const { done, failed } = await recovery.gatekeeper.definitions.pauseAll();
    expect(done).toHaveLength(3);
    expect(failed).toEqual([{ name: expect.any(String), error: 'away' }]);
  });

  it('leaves what can not be read as it is, and says that it failed', async () => {
    const nodes = cluster();
    const { recovery } = await sites(nodes);
    await nodes.overwrite('{"v":99}', 'b.one');
    const { definitions } = recovery.gatekeeper;
    const failed = [{ name: 'b.one', error: expect.stringContaining('version 99') }];
    expect(await definitions.pauseAll()).toMatchObject({ done: ['a.one', 'a.two', 'b.other'], failed, remaining: 0 });
    expect(await definitions.pauseAll({ names: 'b.one' })).toMatchObject({ done: [], failed, remaining: 0 });
    expect(await definitions.resumeAll({ names: 'b.*' })).toMatchObject({ done: ['b.other'], failed });
    expect(await definitions.resumeAll({ names: 'a.*' })).toMatchObject({ done: ['a.one', 'a.two'], failed: [] });
    expect(await nodes.raw.records.read(keyOf('b.one'))).toBe('{"v":99}');
  });

  it('says that names in a shard that can not be read may be left out, unless it is for one other name', async () => {
    const nodes = cluster();
    const { recovery } = await sites(nodes);
    const { definitions } = recovery.gatekeeper;
    await definitions.define({ ...JOB, name: 'a.tenant' });
    const key = shardKeyOf('a.tenant');
    await nodes.raw.records.compareAndSet(key, await nodes.raw.records.read(key), '{"v":99}');
    const failed = [{ name: key, error: expect.stringContaining('version 99') }];
    expect(await definitions.pauseAll({ names: 'a\\.t.*' })).toMatchObject({ done: ['a.two'], failed });
    expect(await definitions.pauseAll({ names: 'a.one' })).toMatchObject({ done: ['a.one'], failed: [] });
  });
});
