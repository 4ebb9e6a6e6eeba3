import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import {
  HEARTBEAT,
  LEASE,
  TOLERANCE,
  changesAt,
  entryOf,
  incOf,
  kill,
  namesAt,
  overwrite,
  pageOf,
  pagesIn,
  startMember,
} from '../../support/members.js';
import { useCluster } from '../../support/nodes.js';
import { onNextWrite } from '../../support/scripted-store.js';
import { Sleeper } from '../../support/sleeper.js';

/** The timer for the end of a lease fires a little early, as Node's do, and the end comes right after the first reading. */
class Hasty extends Sleeper {
  #late = 0;
  #isDue = false;

  override monotonic = (): number => {
    const now = this.time.monotonic() + this.#late;
    if (this.#isDue) this.#late += 2;
    this.#isDue = false;
    return now;
  };

  override schedule = (action: () => void, delay: number): (() => void) => {
    if (delay !== LEASE - TOLERANCE) return this.time.schedule(action, delay);
    const early = () => {
      this.#isDue = true;
      action();
    };
    return this.time.schedule(early, delay - 1);
  };
}

describe('a participant', () => {
  const cluster = useCluster();

  it('that slept for longer than its lease joins again as a new incarnation, and knows at once that it lapsed', async () => {
    const nodes = cluster();
    const clock = new Sleeper(nodes.time);
    const [one, sleeper] = [await startMember(nodes), await startMember(nodes, {}, clock)];
    const inc = await incOf(nodes, sleeper);
    clock.freeze();
    sleeper.store.isDeaf = true;
    await nodes.time.advance(LEASE - TOLERANCE);
    expect(sleeper.gatekeeper.membership.isHeld).toBe(false);
    expect(sleeper.gatekeeper.membership.participants().map(({ acquirer }) => acquirer)).toEqual(['app1']);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
    await nodes.time.advance(2 * TOLERANCE + 1000);
    expect(namesAt(one)).toEqual(['app1']);
    clock.wake();
    await nodes.time.advance(0);
    expect(changesAt(one)).toEqual(['member-joined app2', 'member-crashed app2', 'member-joined app2']);
    expect(changesAt(sleeper)).toEqual(['membership-lost app2']);
    expect(await incOf(nodes, sleeper)).not.toBe(inc);
    expect(namesAt(sleeper)).toEqual(['app1', 'app2']);
  });

  it('knows how long it may count on its lease, and starts anew with each heartbeat', async () => {
    const nodes = cluster();
    const { gatekeeper } = await startMember(nodes);
    await nodes.time.advance(HEARTBEAT);
    const { remaining } = gatekeeper.membership;
    expect(remaining).toBeGreaterThan(LEASE - TOLERANCE - HEARTBEAT);
    expect(remaining).toBeLessThanOrEqual(LEASE - TOLERANCE);
    await nodes.time.advance(10 * HEARTBEAT);
    expect(gatekeeper.membership.remaining).toBeGreaterThan(LEASE - TOLERANCE - HEARTBEAT - 1);
    await gatekeeper.close();
    expect(gatekeeper.membership.remaining).toBe(0);
  });

  it('notices the end of its lease at once, also while the store does not answer whether another one is over', async () => {
    const nodes = cluster();
    const [one, dead] = [await startMember(nodes, { callTimeout: '30s' }), await startMember(nodes)];
    kill(dead);
    await nodes.time.advance(LEASE - HEARTBEAT);
    const unanswered: ((error: Error) => void)[] = [];
    one.store.script = () => new Promise((_, reject) => unanswered.push(reject));
    const { membership } = one.gatekeeper;
    while (membership.isHeld) await nodes.time.advance(10);
    expect(unanswered.length).toBeGreaterThan(0);
    expect(changesAt(one)).toContain('membership-lost app1');
    // At its end the node waits for its calls.
    one.store.script = undefined;
    for (const refuse of unanswered) refuse(new UnknownOutcomeError('no answer'));
  });

  it('notices the end of its lease at once, also if that comes between two readings of its clock', async () => {
    const nodes = cluster();
    const clock = new Hasty(nodes.time);
    const one = await startMember(nodes, {}, clock);
    await nodes.time.advance(HEARTBEAT);
    kill(one);
    const { membership } = one.gatekeeper;
    while (membership.remaining > 0) await nodes.time.advance(1);
    await nodes.time.advance(2);
    expect(changesAt(one)).toContain('membership-lost app1');
  });

  it('that slept until nearly all others had judged it rejoins with a new incarnation', async () => {
    const nodes = cluster();
    const clock = new Sleeper(nodes.time);
    const [one, sleeper] = [await startMember(nodes), await startMember(nodes, {}, clock)];
    const inc = await incOf(nodes, sleeper);
    clock.freeze();
    await nodes.time.advance(LEASE - TOLERANCE + 1);
    clock.wake();
    await nodes.time.advance(0);
    expect(await incOf(nodes, sleeper)).not.toBe(inc);
    expect(changesAt(one)).toEqual(['member-joined app2', 'member-rejoined app2']);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
  });

  it('that leaves does not count on its lease any more when the others see that', async () => {
    const nodes = cluster();
    const [one, leaving] = [await startMember(nodes), await startMember(nodes)];
    const { membership } = leaving.gatekeeper;
    const counted: boolean[] = [];
    one.gatekeeper.events$.subscribe(({ type }) => type === 'member-left' && counted.push(membership.isHeld));
    // The answer to the write that says so comes late.
    leaving.store.script = async (call, go) => {
      const answer = await go();
      return call === 'compareAndSet' ? new Promise(() => undefined) : answer;
    };
    void leaving.gatekeeper.close();
    await nodes.time.advance(1000);
    expect(counted).toEqual([false]);
  });

  it('does not continue a lease that lapsed while the answer to its renewal was under way', async () => {
    const nodes = cluster();
    const [one, late] = [
      await startMember(nodes, { callTimeout: '30s' }),
      await startMember(nodes, { callTimeout: '30s' }),
    ];
    const inc = await incOf(nodes, late);
    let answer!: () => void;
    onNextWrite(late.store, async (go) => {
      const written = await go();
      await new Promise<void>((resolve) => (answer = resolve));
      return written;
    });
    await nodes.time.advance(LEASE + 100);
    expect(late.gatekeeper.membership.isHeld).toBe(false);
    expect(await incOf(nodes, late)).toBe(inc);
    answer();
    await nodes.time.advance(0);
    expect(late.gatekeeper.membership.isHeld).toBe(true);
    expect(await incOf(nodes, late)).not.toBe(inc);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
  });

  it('keeps its incarnation when the answer to a renewal is lost', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    const inc = await incOf(nodes, other);
    onNextWrite(other.store, async (go) => {
      await go();
      throw new UnknownOutcomeError('the connection broke');
    });
    await nodes.time.advance(2 * HEARTBEAT);
    expect(await incOf(nodes, other)).toBe(inc);
    expect(changesAt(one)).toEqual(['member-joined app2']);
    expect(changesAt(other)).toEqual([]);
  });

  it.each([
    ['was applied', true],
    ['was not applied', false],
  ])('takes a new incarnation after a join whose outcome stayed unknown and that %s', async (_, isApplied) => {
    const nodes = cluster();
    const one = await startMember(nodes);
    const joining = nodes.unstarted({ membership: { lease: LEASE } });
    let first: string | undefined;
    let isCut = false;
    joining.store.script = async (call, go) => {
      if (isCut) return new Promise(() => undefined);
      if (call !== 'compareAndSet') return go();
      isCut = true;
      if (isApplied) await go();
      first = await incOf(nodes, joining);
      return new Promise(() => undefined);
    };
    await joining.gatekeeper.start();
    await nodes.time.advance(2000);
    expect(joining.gatekeeper.membership.isHeld).toBe(false);
    expect(isCut).toBe(true);
    joining.store.script = undefined;
    await nodes.time.advance(5000);
    expect(joining.gatekeeper.membership.isHeld).toBe(true);
    expect(await incOf(nodes, joining)).toEqual(expect.any(String));
    expect(first === undefined).toBe(!isApplied);
    expect(await incOf(nodes, joining)).not.toBe(first);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
  });

  it('takes a new incarnation if the others have judged and dropped it while its join went on', async () => {
    const nodes = cluster();
    const one = await startMember(nodes);
    const joining = nodes.unstarted({ membership: { lease: LEASE }, callTimeout: '60s' });
    let fail = () => {};
    onNextWrite(joining.store, async (go) => {
      await go();
      return new Promise((_, reject) => (fail = () => reject(new UnknownOutcomeError('no answer'))));
    });
    await joining.gatekeeper.start();
    await nodes.time.advance(LEASE + 2 * TOLERANCE + HEARTBEAT);
    expect(changesAt(one)).toEqual(['member-joined app2', 'member-crashed app2']);
    const [first, key] = [await incOf(nodes, joining), await pageOf(nodes, joining)];
    const page = (await pagesIn(nodes)).get(key)!;
    const entries = page.entries.filter(({ inc }) => inc !== first);
    await overwrite(nodes, key, JSON.stringify({ ...page, nonce: 'another', seq: page.seq + 1, entries }));
    fail();
    await nodes.time.advance(HEARTBEAT);
    expect(joining.gatekeeper.membership.isHeld).toBe(true);
    expect(joining.gatekeeper.membership.incarnation).not.toBe(first);
  });

  it('joins again as a new incarnation when another node dropped its entry', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    const [inc, key] = [await incOf(nodes, other), await pageOf(nodes, other)];
    const page = (await pagesIn(nodes)).get(key)!;
    const entries = page.entries.filter(({ instance }) => instance !== other.gatekeeper.node.instance);
    await overwrite(nodes, key, JSON.stringify({ ...page, nonce: 'another', seq: page.seq + 1, entries }));
    await nodes.time.advance(2 * HEARTBEAT);
    expect(await incOf(nodes, other)).not.toBe(inc);
    expect(changesAt(other)).toEqual(['membership-lost app2']);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
  });

  it('counts from both of its clocks: a jump of the wall clock ahead ends its lease', async () => {
    const nodes = cluster();
    const one = await startMember(nodes);
    const inc = await incOf(nodes, one);
    nodes.time.jumpWall(LEASE);
    expect(one.gatekeeper.membership.isHeld).toBe(false);
    expect(namesAt(one)).toEqual([]);
    await nodes.time.advance(HEARTBEAT);
    expect(one.gatekeeper.membership.isHeld).toBe(true);
    expect(await incOf(nodes, one)).not.toBe(inc);
  });

  it('joins when the store comes, if it was not there when the node began', async () => {
    const nodes = cluster();
    const one = await startMember(nodes);
    const late = nodes.unstarted({ membership: { lease: LEASE } });
    kill(late);
    await late.gatekeeper.start();
    await nodes.time.advance(60_000);
    expect(namesAt(late)).toEqual([]);
    late.store.script = undefined;
    await nodes.time.advance(1000);
    expect(namesAt(late)).toEqual(['app1', 'app2']);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
    expect(late.of('problem').filter(({ action }) => action.includes('member'))).toEqual([]);
  });

  it('leaves even if a heartbeat is under way', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    let go!: () => void;
    other.store.script = async (call, pass) => {
      if (call === 'readMany') await new Promise<void>((resolve) => (go = resolve));
      return pass();
    };
    await nodes.time.advance(HEARTBEAT);
    const closing = other.gatekeeper.close();
    await nodes.time.advance(0);
    go();
    await nodes.time.advance(0);
    await closing;
    expect(namesAt(one)).toEqual(['app1']);
    expect(await entryOf(nodes, other)).toMatchObject({ ended: true });
  });
});
