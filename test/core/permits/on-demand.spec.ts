import { InvalidOptionsError, type Permit, UnknownOutcomeError, UnknownSemaphoreError } from 'nestjs-gatekeeper';
import { type Telemetry, partsOf } from '../../../lib/gatekeeper/index.js';
import { LONGEST_ON_DEMAND, decodeShard } from '../../../lib/core/decision/index.js';
import { settled } from '../../support/fake-time.js';
import { JOB, type TestCluster, type TestNode, keyOf, outcomeOf, shardKeyOf, useCluster } from '../../support/nodes.js';
import { refused } from '../../support/refused.js';

const NAME = 'order-123';
const SHORT = { duration: '10s' };

const shardIn = async (nodes: TestCluster, name = NAME) =>
  decodeShard('0', (await nodes.raw.records.read(shardKeyOf(name)))!);
const lose = (nodes: TestCluster) => nodes.lose(shardKeyOf(NAME));
/** A telemetry that only passes calls on. */
const NO_TELEMETRY: Telemetry = {
  acquire: (_semaphore, _acquirer, call) => call(),
  run: (_job, call) => call(() => undefined),
  attempt: (_task, call) => call(),
  submit: (_task, call) => call(undefined),
  storeCall: () => undefined,
  backlog: () => undefined,
  observe: () => undefined,
  close: () => undefined,
};
const sizeOf = ({ gatekeeper }: TestNode) => partsOf(gatekeeper).directory.size;

describe('a name that no code defines', () => {
  const cluster = useCluster();
  const two = async (options = {}, other = options) => {
    const nodes = cluster();
    return { nodes, one: await nodes.node(options), other: await nodes.node(other) };
  };

  it('is held by one node at a time, and leaves nothing behind', async () => {
    const { nodes, one, other } = await two();
    const permit = (await one.gatekeeper.tryAcquire(NAME, SHORT))!;
    expect(await other.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
    await permit.release();
    const again = (await other.gatekeeper.tryAcquire(NAME, SHORT))!;
    expect(again.token).toBeGreaterThan(permit.token);
    await again.release();
    expect((await shardIn(nodes)).names.size).toBe(0);
    expect(await nodes.raw.records.read(keyOf(NAME))).toBeUndefined();
    expect([sizeOf(one), sizeOf(other)]).toEqual([0, 0]);
  });

  it('is removed by its operator also where the answer is lost and another write follows', async () => {
    const { nodes, one, other } = await two();
    await one.gatekeeper.definitions.define({ name: NAME, duration: '10s' });
    let isLost = false;
    let permit: Permit | undefined;
    one.store.script = async (call, go) => {
      const answer = await go();
      if (call !== 'compareAndSet' || isLost) return answer;
      isLost = true;
      permit = await other.gatekeeper.tryAcquire(NAME, SHORT);
      throw new UnknownOutcomeError('lost');
    };
    const removing = one.gatekeeper.definitions.remove(NAME);
    await nodes.time.advance(1000);
    expect(await removing).toBe(true);
    expect((await shardIn(nodes)).names.get(NAME)?.permits).toMatchObject([{ id: permit!.id }]);
  });

  it('leaves nothing behind when its holder lets it expire', async () => {
    const { nodes, one } = await two();
    await one.gatekeeper.tryAcquire(NAME, SHORT);
    expect(sizeOf(one)).toBe(1);
    // The fourth sweep removes it at the latest, each up to 11 s after the one before: in 3 of 100 runs it came after 40 s.
    await nodes.time.advance(60_000);
    expect((await shardIn(nodes)).names.size).toBe(0);
    expect(sizeOf(one)).toBe(0);
  });

  it('is one semaphore, however many handles the application keeps', async () => {
    const { one } = await two();
    const [first, second] = [one.gatekeeper.semaphore(NAME), one.gatekeeper.semaphore(NAME)];
    const permit = (await first.tryAcquire(SHORT))!;
    expect((await second.tryAcquire(SHORT))!.id).toBe(permit.id);
    expect(permit.isHeld).toBe(true);
  });

  it('is one semaphore for a handle that was idle while another came into use, and the other way round', async () => {
    const { one } = await two();
    const handles = [one.gatekeeper.semaphore(NAME), one.gatekeeper.semaphore(NAME)];
    for (const [user, idle] of [handles, handles.toReversed(), handles]) {
      const permit = (await user!.tryAcquire(SHORT))!;
      expect((await idle!.explain()).outcome).toBe('refreshed');
      const joined = (await idle!.acquire(SHORT))!;
      expect(joined.id).toBe(permit.id);
      await permit.release();
      expect(joined.isHeld).toBe(true);
      expect(sizeOf(one)).toBe(1);
      await joined.release();
      expect(sizeOf(one)).toBe(0);
    }
  });

  it('is one semaphore, also while the telemetry of the application holds a call up', async () => {
    let begin!: () => void;
    const held = [new Promise<void>((resolve) => (begin = resolve))];
    const { one } = await two({
      telemetry: {
        open: () => ({
          ...NO_TELEMETRY,
          acquire: async <E>(_semaphore: string, _acquirer: string, call: () => Promise<E>) => {
            await held.shift();
            return call();
          },
        }),
      },
    });
    const [first, second] = [one.gatekeeper.semaphore(NAME), one.gatekeeper.semaphore(NAME)];
    const late = first.tryAcquire(SHORT);
    await (await first.tryAcquire(SHORT))!.release();
    begin();
    const [permit, joined] = [(await late)!, (await second.tryAcquire(SHORT))!];
    await joined.release();
    expect(permit.isHeld).toBe(true);
    expect((await one.gatekeeper.explain(NAME)).holders).toHaveLength(1);
  });

  it('leaves nothing behind when it is asked during the shutdown', async () => {
    const { one } = await two();
    let end!: () => void;
    const running = one.gatekeeper.run('long', () => new Promise<void>((resolve) => (end = resolve)), SHORT);
    await settled();
    const closing = one.gatekeeper.close();
    await settled();
    const before = sizeOf(one);
    expect(await one.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
    expect(sizeOf(one)).toBe(before);
    end();
    await running;
    await closing;
  });

  it('leaves nothing behind while it is only asked for its handle', async () => {
    const { one } = await two();
    const handle = one.gatekeeper.semaphore(NAME);
    await handle.explain();
    expect(sizeOf(one)).toBe(0);
    await handle.tryAcquire(SHORT);
    expect(sizeOf(one)).toBe(1);
  });

  it('wakes those who wait for it with its release', async () => {
    const { one, other } = await two();
    const permit = (await one.gatekeeper.tryAcquire(NAME, SHORT))!;
    const waiting = other.gatekeeper.acquire(NAME, SHORT);
    await settled();
    await permit.release();
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('is kept alive as long as a run goes on', async () => {
    const { nodes, one, other } = await two();
    const running = one.gatekeeper.run(NAME, () => new Promise(() => {}), SHORT);
    await nodes.time.advance(60_000);
    expect(await outcomeOf(running)).toBe('pending');
    expect(await other.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
  });

  it('may not be held for longer than a lost shard takes to come back', async () => {
    const { one } = await two();
    const tooLong = one.gatekeeper.tryAcquire(NAME, { duration: LONGEST_ON_DEMAND + 1 });
    await expect(tooLong).rejects.toThrow(InvalidOptionsError);
    await expect(tooLong).rejects.toThrow(refused('duration'));
    const permit = (await one.gatekeeper.tryAcquire(NAME, SHORT))!;
    await expect(permit.extend('20m')).rejects.toThrow(refused('duration'));
    expect(permit.isHeld).toBe(true);
  });

  it('is unknown to a call without a duration', async () => {
    const { one } = await two();
    await expect(one.gatekeeper.tryAcquire(NAME)).rejects.toThrow(UnknownSemaphoreError);
  });

  it('stays gone when a write that was under way comes late', async () => {
    const { nodes, one, other } = await two();
    const permit = (await one.gatekeeper.tryAcquire(NAME, SHORT))!;
    let late!: () => Promise<unknown>;
    other.store.script = (call, go) => (call === 'compareAndSet' ? ((late ??= go), new Promise(() => {})) : go());
    await permit.release();
    const granting = other.gatekeeper.tryAcquire(NAME, SHORT).catch((error: Error) => error);
    await nodes.time.advance(2100);
    other.store.script = undefined;
    expect(await granting).toBeInstanceOf(Error);
    await nodes.time.advance(1000);
    await late();
    expect((await shardIn(nodes)).names.size).toBe(0);
  });

  it('is listed while it is in use, and an operator may pause it', async () => {
    const { nodes, one, other } = await two();
    const permit = (await one.gatekeeper.tryAcquire(NAME, SHORT))!;
    const names = async () => (await other.gatekeeper.state()).semaphores.map(({ name }) => name);
    expect(await names()).toEqual(['job', NAME]);
    await other.gatekeeper.definitions.pause(NAME, { by: 'ann' });
    await permit.release();
    expect(await one.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
    expect((await one.gatekeeper.explain(NAME)).reason).toBe('paused');
    expect((await shardIn(nodes)).names.has(NAME)).toBe(true);
    await other.gatekeeper.definitions.remove(NAME);
    expect(await names()).toEqual(['job']);
    expect(await one.gatekeeper.tryAcquire(NAME, SHORT)).toBeDefined();
  });

  it('is left out of a change of many, which would define it for good', async () => {
    const { nodes, one, other } = await two();
    await one.gatekeeper.tryAcquire(NAME, SHORT);
    const { definitions } = other.gatekeeper;
    expect((await definitions.pauseAll()).done).toEqual(['job']);
    expect((await definitions.resumeAll({ names: '.*' })).done).toEqual(['job']);
    const { steps } = await definitions.migrate({ to: { groupPattern: 'elsewhere' } });
    expect(steps.map(({ name }) => name)).toEqual(['job']);
    await nodes.time.advance(60_000);
    expect((await shardIn(nodes)).names.size).toBe(0);
  });

  it('is paused by a change of many that names it, and then resumed with all', async () => {
    const { one, other } = await two();
    await one.gatekeeper.tryAcquire(NAME, SHORT);
    const { definitions } = other.gatekeeper;
    expect((await definitions.pauseAll({ names: NAME })).done).toEqual([NAME]);
    expect((await definitions.resumeAll()).done).toEqual([NAME]);
  });
});

describe('a shard that the store lost', () => {
  const cluster = useCluster();

  it('comes back with a grace in which only its holder goes on', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permit = (await one.gatekeeper.tryAcquire(NAME, { duration: '10m' }))!;
    await lose(nodes);
    expect(await other.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
    expect(other.of('denied')).toMatchObject([{ semaphore: NAME, reason: 'recovering' }]);
    const { grace } = await shardIn(nodes);
    const neighbour = Array.from({ length: 100_000 }, (_, index) => `order-${index}x`).find(
      (name) => shardKeyOf(name) === shardKeyOf(NAME),
    )!;
    for (const [name, expected] of [
      [NAME, 'recovering'],
      [neighbour, 'no-definition'],
    ] as const) {
      const { reason, sentence } = await other.gatekeeper.explain(name);
      expect(reason).toBe(expected);
      expect(sentence).toContain(`(${new Date(grace!.expiresAt).toISOString()})`);
    }
    await permit.extend();
    expect(permit.isHeld).toBe(true);
    expect((await shardIn(nodes)).names.get(NAME)?.permits).toMatchObject([{ id: permit.id }]);
  });

  it('is not taken for an empty one by a node that starts after the loss', async () => {
    const nodes = cluster();
    const one = await nodes.node();
    await one.gatekeeper.tryAcquire(NAME, { duration: '10m' });
    await lose(nodes);
    const fresh = await nodes.node();
    expect(await fresh.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
    expect(fresh.of('denied')).toMatchObject([{ semaphore: NAME, reason: 'recovering' }]);
  });
});

describe('a name that the code of one node defines while another node uses it on demand', () => {
  const cluster = useCluster();

  it('has a record of its own, which the other node uses, too', async () => {
    const nodes = cluster();
    const defining = await nodes.node({ definitions: [{ name: NAME, duration: '10s' }] });
    const other = await nodes.node();
    const permit = (await other.gatekeeper.tryAcquire(NAME, { duration: '20s' }))!;
    expect(await defining.gatekeeper.tryAcquire(NAME)).toBeUndefined();
    expect((await nodes.record(NAME)).permits).toMatchObject([{ id: permit.id }]);
    expect((await shardIn(nodes)).claims.has(NAME)).toBe(true);
  });

  it('is granted by its own record only when the permit on demand is over', async () => {
    const nodes = cluster();
    const other = await nodes.node();
    const permit = (await other.gatekeeper.tryAcquire(NAME, { duration: '20s', keepAlive: true }))!;
    const defining = await nodes.node({ definitions: [{ name: NAME, duration: '10s' }] });
    await nodes.time.advance(60_000);
    expect(await defining.gatekeeper.tryAcquire(NAME)).toBeUndefined();
    expect(permit.isHeld).toBe(true);
    await permit.release();
    await nodes.time.advance(15_000);
    expect(await defining.gatekeeper.tryAcquire(NAME)).toMatchObject({ isHeld: true });
    expect(await other.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
  });

  it('comes back with a grace when its own record was lost with every node that knew it', async () => {
    const nodes = cluster();
    const definitions = [{ name: NAME, duration: '10s' }];
    const former = await nodes.node({ definitions });
    await former.gatekeeper.tryAcquire(NAME);
    await former.gatekeeper.close();
    await nodes.overwrite(undefined, NAME);
    const fresh = await nodes.node({ definitions });
    expect(await fresh.gatekeeper.tryAcquire(NAME)).toBeUndefined();
    expect((await fresh.gatekeeper.explain(NAME)).reason).toBe('recovering');
    await nodes.time.advance(11_000);
    expect(await fresh.gatekeeper.tryAcquire(NAME)).toBeDefined();
  });

  it('gets its claim back when the shard is lost', async () => {
    const nodes = cluster();
    const definitions = [{ name: NAME, duration: '10s' }];
    const defining = await nodes.node({ definitions });
    await lose(nodes);
    const fresh = await nodes.node();
    await nodes.time.advance(25_000);
    expect((await shardIn(nodes)).claims.has(NAME)).toBe(true);
    const permit = await defining.gatekeeper.tryAcquire(NAME);
    expect(permit).toBeDefined();
    expect(await fresh.gatekeeper.tryAcquire(NAME, SHORT)).toBeUndefined();
  });
});

describe('a cluster', () => {
  const cluster = useCluster();
  const start = async (nodes: TestCluster, count: number) => {
    const started = Array.from({ length: count }, () =>
      nodes.unstarted({ definitions: [JOB], definitionsDelay: '5s' }),
    );
    await Promise.all(started.map(({ gatekeeper }) => gatekeeper.start()));
    return started;
  };

  it.each([1, 3])('of %s nodes grants within seconds of its birth', async (count) => {
    const nodes = cluster();
    const started = await start(nodes, count);
    const takes = started.map(({ gatekeeper }) => gatekeeper.tryAcquire(NAME, SHORT));
    await nodes.time.advance(12_000);
    expect((await Promise.all(takes)).filter((permit) => permit !== undefined)).toHaveLength(1);
    const declared = await Promise.all(started.map(({ gatekeeper }) => gatekeeper.tryAcquire('job')));
    expect(declared.filter((permit) => permit !== undefined)).toHaveLength(1);
  });

  it('that lost everything gets the grace from a node that lived on', async () => {
    const nodes = cluster();
    const one = await nodes.node();
    await one.gatekeeper.tryAcquire(NAME, { duration: '10m' });
    await nodes.loseAll();
    const [fresh] = await start(nodes, 1);
    const taking = fresh!.gatekeeper.tryAcquire(NAME, SHORT);
    await nodes.time.advance(30_000);
    expect(await taking).toBeUndefined();
    expect(fresh!.of('denied')).toMatchObject([{ semaphore: NAME, reason: 'recovering' }]);
  });
});
