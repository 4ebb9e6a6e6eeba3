import {
  InvalidOptionsError,
  MaintenanceConflictError,
  NothingMatchesError,
  StoreUnavailableError,
  UnknownMaintenanceError,
  UnknownOutcomeError,
} from 'nestjs-gatekeeper';
import { JOB, type TestNode, useCluster } from '../../support/nodes.js';
import { JOBS, before, pausedOf, two } from './windows.js';
import { removed } from '../../support/removed.js';

const KEY = 'change-sets:root';

/** The node dies at its n-th write: this one and all later calls fail. */
function dieAt(node: TestNode, write: number): void {
  let count = 0;
  node.store.script = async (call, go) => {
    if (call === 'compareAndSet') count++;
    if (count >= write) throw new StoreUnavailableError('dead');
    return go();
  };
}

describe('a maintenance window', () => {
  const cluster = useCluster();

  it('is named by one read, however many semaphores it has paused', async () => {
    const [node, other] = await two(cluster());
    await node!.gatekeeper.definitions.maintenance.start({ window: 'db', names: 'a-.*', by: 'bob' });
    const calls: string[] = [];
    other!.store.script = (call, go) => {
      calls.push(call);
      return go();
    };
    const { maintenance } = other!.gatekeeper.definitions;
    expect(await maintenance.open()).toEqual([
      { window: 'db', by: 'bob', since: expect.any(Number), phase: 'on', listed: ['a-one', 'a-two'] },
    ]);
    expect(calls).toEqual(['read']);
  });

  it('pauses what runs, and resumes exactly this', async () => {
    const [node] = await two(cluster());
    const { definitions } = node!.gatekeeper;
    await definitions.pause('a-one', { by: 'ann', reason: 'broken for weeks' });
    const start = await definitions.maintenance.start({ window: 'db', names: '.*', reason: 'it moves', by: 'bob' });
    expect(start).toMatchObject({ paused: ['a-two', 'b-one', 'b-two'], shared: [], failed: [], remaining: 0 });
    expect(start.left).toEqual([
      { name: 'a-one', why: expect.stringMatching(/^was paused before, by "ann" at .*: broken/) },
    ]);
    expect((await definitions.get('b-one'))?.pause).toMatchObject({ by: 'bob', reason: 'maintenance "db": it moves' });

    const end = await definitions.maintenance.end('db', { by: 'cleo' });
    expect(end).toMatchObject({ resumed: ['a-two', 'b-one', 'b-two'], left: [], failed: [], remaining: 0 });
    expect(await pausedOf(node!)).toEqual(['a-one']);
    expect(await definitions.maintenance.list()).toEqual([]);
  });

  it('is a state that every node sees, and counts down what is still held', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const permit = await other!.gatekeeper.tryAcquire('a-one');
    await node!.gatekeeper.definitions.maintenance.start({
      window: 'db',
      names: ['a-.*', 'b-one'],
      reason: 'it moves',
      by: 'bob',
    });
    const { maintenance } = other!.gatekeeper.definitions;
    expect(await maintenance.list()).toEqual([
      {
        window: 'db',
        patterns: ['a-.*', 'b-one'],
        reason: 'it moves',
        by: 'bob',
        since: nodes.time.cluster(),
        phase: 'on',
        semaphores: ['a-one', 'a-two', 'b-one'],
        left: [],
        permits: 1,
        held: [{ semaphore: 'a-one', permits: 1 }],
        running: [],
        due: [],
        unreadable: [],
        isQuiet: false,
        sentence: '1 permit is still held: safe at 0',
      },
    ]);
    await permit!.release();
    expect(await maintenance.get('db')).toMatchObject({
      permits: 0,
      isQuiet: true,
      sentence: 'no permit is held: safe to begin',
    });
    await expect(maintenance.get('other')).rejects.toThrow(UnknownMaintenanceError);
  });

  it('is not quiet while a name that matches is not paused: defined, resumed, or used on demand', async () => {
    const nodes = cluster();
    const [node] = await two(nodes);
    const { definitions } = node!.gatekeeper;
    await definitions.maintenance.start({ window: 'db', names: '.*' });
    await definitions.define({ ...JOB, name: 'new' });
    await definitions.resume('a-one', { by: 'ann', reason: 'urgent' });
    await node!.gatekeeper.tryAcquire('order-7', { duration: '10s' });
    const window = await definitions.maintenance.get('db');
    expect(window).toMatchObject({
      running: ['a-one', 'new', 'order-7'],
      due: ['new'],
      held: [{ semaphore: 'order-7', permits: 1 }],
      isQuiet: false,
    });
    expect(window.left).toEqual([
      { name: 'a-one', why: expect.stringMatching(/runs already: changed since \(resume by "ann"/) },
    ]);
    expect(window.sentence).toBe(
      '1 permit is still held: safe at 0; 1 name was defined since: start it again to pause these, too; ' +
        "2 names that it can't pause: resumed since, or without a definition",
    );
  });

  it('takes in what was defined since, if it is started again, but not what a person resumed', async () => {
    const [node] = await two(cluster());
    const { definitions } = node!.gatekeeper;
    await definitions.maintenance.start({ window: 'db', names: '.*' });
    await definitions.define({ ...JOB, name: 'new' });
    await definitions.resume('a-one', { by: 'ann' });
    const again = await definitions.maintenance.start({ window: 'db', names: '.*' });
    expect(again.paused).toEqual(['new']);
    expect(again.left).toMatchObject([{ name: 'a-one', why: expect.stringContaining('resume by "ann"') }]);
    expect((await definitions.maintenance.end('db')).resumed).toEqual(['a-two', 'b-one', 'b-two', 'new']);
  });

  it('leaves alone what changed meanwhile, and names it with who and when', async () => {
    const [node] = await two(cluster());
    const { definitions } = node!.gatekeeper;
    await definitions.maintenance.start({ window: 'db', names: '.*' });
    await definitions.edit('a-one', { permits: 3 }, { by: 'ann' });
    await definitions.resume('a-two', { by: 'ann' });
    await definitions.resume('b-one', { by: 'ann' });
    await definitions.pause('b-one', { by: 'ann', reason: 'broken' });
    await removed(node!.gatekeeper, 'b-two', { by: 'ann' });
    const { resumed, left } = await definitions.maintenance.end('db');
    expect(resumed).toEqual([]);
    expect(Object.fromEntries(left.map(({ name, why }) => [name, why.replace(/ at .*/, '')]))).toEqual({
      'a-one': 'it stays paused: changed since (edit by "ann"',
      'a-two': expect.stringMatching(/^it runs .*\(resume by "ann"$/),
      'b-one': expect.stringMatching(/^it stays .*\(pause by "ann"$/),
      'b-two': expect.stringMatching(/^its definition was removed; .*\(remove by "ann"$/),
    });
    expect(await pausedOf(node!)).toEqual(['a-one', 'b-one']);
  });

  it('loses against an edit that comes between its look and its resume', async () => {
    const [node, other] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    await maintenance.start({ window: 'db', names: 'a-one' });
    // 1: the window is ending. 2 and 3: the list of resumes. 4: the resume.
    before(node!, 4, () => other!.gatekeeper.definitions.edit('a-one', { permits: 3 }, { by: 'ann' }));
    const { resumed, left } = await maintenance.end('db');
    expect({ resumed, left: left.map(({ name }) => name) }).toEqual({ resumed: [], left: ['a-one'] });
    expect(await pausedOf(node!)).toEqual(['a-one']);
  });

  it('does not take over a pause that comes between its look and its pause', async () => {
    const [node, other] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    // 1: the window. 2: its list. 3 and 4: the list of pauses. 5: the pause.
    before(node!, 5, () => other!.gatekeeper.definitions.pause('a-one', { by: 'ann' }));
    const { paused, left } = await maintenance.start({ window: 'db', names: 'a-one' });
    expect({ paused, left: left.map(({ name }) => name) }).toEqual({ paused: [], left: ['a-one'] });
    expect((await maintenance.end('db')).resumed).toEqual([]);
    expect(await pausedOf(node!)).toEqual(['a-one']);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('goes on after its process died at write %d of the start', async (write) => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const request = { window: 'db', names: '.*' };
    dieAt(node!, write);
    await node!.gatekeeper.definitions.maintenance.start(request).catch(() => undefined);
    const { maintenance } = other!.gatekeeper.definitions;
    await maintenance.start(request);
    expect(await pausedOf(other!)).toEqual(['a-one', 'a-two', 'b-one', 'b-two']);
    expect(await maintenance.get('db')).toMatchObject({
      phase: 'on',
      semaphores: JOBS.map(({ name }) => name),
      left: [],
    });
    expect((await maintenance.end('db')).left).toEqual([]);
    expect(await pausedOf(other!)).toEqual([]);
  });

  it('says that nothing was changed only as long as that is true', async () => {
    const [node] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    const request = { window: 'db', names: '.*' };
    dieAt(node!, 1);
    await expect(maintenance.start(request)).rejects.toThrow(StoreUnavailableError);
    dieAt(node!, 2);
    await expect(maintenance.start(request)).rejects.toThrow(UnknownOutcomeError);
    node!.store.script = undefined;
    await maintenance.start(request);
    dieAt(node!, 1);
    await expect(maintenance.end('db')).rejects.toThrow(StoreUnavailableError);
    dieAt(node!, 2);
    await expect(maintenance.end('db')).rejects.toThrow(UnknownOutcomeError);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'ends after a start whose process died at write %d, or an end that died there',
    async (write) => {
      const nodes = cluster();
      const [node, other] = await two(nodes);
      const { maintenance } = other!.gatekeeper.definitions;
      dieAt(node!, write);
      await node!.gatekeeper.definitions.maintenance.start({ window: 'db', names: '.*' }).catch(() => undefined);
      if (write > 1) await maintenance.end('db');
      expect([await pausedOf(other!), await maintenance.list()]).toEqual([[], []]);

      await maintenance.start({ window: 'db', names: '.*' });
      dieAt(node!, write);
      await node!.gatekeeper.definitions.maintenance.end('db').catch(() => undefined);
      const { left } = await maintenance.end('db');
      expect(left).toEqual([]);
      expect([await pausedOf(other!), await maintenance.list()]).toEqual([[], []]);
    },
  );

  it('starts and ends a few at a time, with one id each in the audit log', async () => {
    const nodes = cluster();
    const [node] = await two(nodes);
    const { gatekeeper } = node!;
    const { maintenance } = gatekeeper.definitions;
    const request = { window: 'db', names: '.*', by: 'bob', limit: 3 };
    expect(await maintenance.start(request)).toMatchObject({ paused: ['a-one', 'a-two', 'b-one'], remaining: 1 });
    expect(await maintenance.get('db')).toMatchObject({ phase: 'starting', isQuiet: false });
    const { bulk } = await maintenance.start(request);
    expect(await maintenance.end('db', { limit: 3 })).toMatchObject({ remaining: 1 });
    expect(await maintenance.get('db')).toMatchObject({ phase: 'ending', semaphores: ['b-two'] });
    await expect(maintenance.start(request)).rejects.toThrow('is ending: end it first');
    expect(await maintenance.end('db', { limit: 3 })).toMatchObject({ resumed: ['b-two'], remaining: 0 });
    await nodes.time.advance(200);
    const entries = await gatekeeper.audit.read(100);
    expect(entries.filter((entry) => entry.bulk === bulk).map(({ action }) => action)).toEqual(Array(4).fill('pause'));
    expect(entries.filter(({ semaphore }) => semaphore === 'maintenance:db').map(({ action }) => action)).toEqual([
      'start-maintenance',
      'end-maintenance',
    ]);
    // The whole can be undone like any change of many.
    expect((await gatekeeper.definitions.planUndo(`${bulk}-end`)).steps.map(({ kind }) => kind)).toEqual(
      Array(4).fill('pause'),
    );
  });

  it('is refused for faults, for patterns that match nothing, and under a name with other patterns', async () => {
    const [node] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    await expect(maintenance.start({ window: 'db', names: '(' })).rejects.toThrow(InvalidOptionsError);
    await expect(maintenance.start({ window: 'db', names: [] })).rejects.toThrow('has no pattern');
    await expect(maintenance.start({ window: 'db', names: 'c-.*' })).rejects.toThrow(NothingMatchesError);
    expect(await maintenance.list()).toEqual([]);
    await maintenance.start({ window: 'db', names: 'a-.*', by: 'ann' });
    await expect(maintenance.start({ window: 'db', names: 'b-.*' })).rejects.toThrow(MaintenanceConflictError);
    await expect(maintenance.start({ window: 'db', names: 'b-.*' })).rejects.toThrow(
      /started by "ann" with other patterns/,
    );
    await expect(maintenance.end('other')).rejects.toThrow(UnknownMaintenanceError);
  });

  it('is one of at most 20', async () => {
    const [node] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    for (let index = 0; index < 20; index++) await maintenance.start({ window: `w${index}`, names: 'a-one' });
    await expect(maintenance.start({ window: 'w20', names: 'a-one' })).rejects.toThrow('20 windows are on');
  });

  it('is one of at most 4 of an author who may change only some semaphores, and 4 are left for others', async () => {
    const [node] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    const only = (name: string) => name === 'a-one';
    const start = (window: string, by: string) => maintenance.start({ window, names: 'a-one', by, only });
    for (const by of ['ann', 'bob', 'cid', 'dan']) {
      for (let index = 0; index < 4; index++) await start(`${by}-${index}`, by);
      await expect(start(`${by}-4`, by)).rejects.toThrow(MaintenanceConflictError);
    }
    await expect(start('eve-0', 'eve')).rejects.toThrow(MaintenanceConflictError);
    for (let index = 0; index < 4; index++) await maintenance.start({ window: `w${index}`, names: 'a-one', by: 'ann' });
    expect(await maintenance.list()).toHaveLength(20);
  });

  it('asks the store nothing while there is none, and says when its record can not be read', async () => {
    const nodes = cluster();
    const [node] = await two(nodes);
    expect(await nodes.raw.records.read(KEY)).toBeUndefined();
    const { maintenance } = node!.gatekeeper.definitions;
    await maintenance.list();
    expect(await nodes.raw.records.read(KEY)).toBeUndefined();
    await nodes.raw.records.compareAndSet(KEY, undefined, '{"v":2}');
    await expect(maintenance.list()).rejects.toMatchObject({ code: 'newer-record' });
    await nodes.raw.records.compareAndSet(KEY, '{"v":2}', 'garbage');
    await expect(maintenance.start({ window: 'db', names: '.*' })).rejects.toMatchObject({ code: 'corrupt-record' });
    expect(await pausedOf(node!)).toEqual([]);
  });
});
