import { type Term, currentPermit } from 'nestjs-gatekeeper';
import { type TestNode, openEnd, outcomeOf, useCluster } from '../support/nodes.js';
import { GRACE, LEASE, REST, TOLERANCE, candidates, cutOff, heard, leads, scopeOf, untilLed } from './candidates.js';

const newCluster = useCluster();
const NAME = 'leader:default';

describe('the callbacks of a term', () => {
  it('come once each, in every term, on each node', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const logs = nodes.map((node) => heard(node));
    const first = scopeOf(nodes[0]!).term!.token;
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(REST + 1000);
    const second = scopeOf(nodes[1]!).term!.token;
    await scopeOf(nodes[1]!).resign();
    await cluster.time.advance(1000);
    const third = scopeOf(nodes[0]!).term!.token;
    expect(logs).toEqual([
      [`-${first}`, `+${third}`],
      [`+${second}`, `-${second}`],
    ]);
  });

  it('that throw are reported, and the term goes on and ends as usual', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const fault = new Error('disk full');
    const throwing = () => {
      throw fault;
    };
    scopeOf(nodes[1]!).on('gained', throwing);
    scopeOf(nodes[1]!).on('lost', async () => throwing());
    const log = heard(nodes[1]!);
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(REST + 1000);
    expect(leads(nodes[1]!)).toBe(true);
    await scopeOf(nodes[1]!).resign();
    await cluster.time.advance(1000);
    expect(log).toHaveLength(2);
    expect(nodes[1]!.of('problem')).toMatchObject([
      { semaphore: NAME, action: 'leadership gained', error: fault },
      { semaphore: NAME, action: 'leadership lost', error: fault },
    ]);
    expect(leads(nodes[0]!)).toBe(true);
  });

  it('come although the one before hangs, and the permit then expires', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    scopeOf(nodes[0]!).on('lost', () => new Promise(() => undefined));
    const log = heard(nodes[0]!);
    void scopeOf(nodes[0]!).resign();
    await cluster.time.advance(GRACE - 100);
    expect(log).toHaveLength(1);
    expect((await cluster.record(NAME)).permits).toHaveLength(1);
    const took = await untilLed(cluster, nodes, LEASE + TOLERANCE + 2000);
    expect(took).toBeGreaterThan(LEASE / 2);
    expect(leads(nodes[1]!)).toBe(true);
    expect(nodes[0]!.of('problem')).toMatchObject([
      { action: 'end the term', error: { message: expect.stringContaining('the permit expires instead') } },
    ]);
  });
});

describe('the end of a term', () => {
  it('aborts the signal, waits for the work, and only then frees the permit', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const { work, end, started } = openEnd();
    let term!: Term;
    void scopeOf(nodes[0]!).lead((given) => ((term = given), work()));
    await started;
    const resigning = scopeOf(nodes[0]!).resign();
    expect(term.signal.aborted).toBe(true);
    expect(term.signal.reason).toMatchObject({ code: 'not-leader', reason: 'resigned' });
    expect(leads(nodes[0]!)).toBe(false);
    await cluster.time.advance(GRACE - 100);
    expect(leads(nodes[1]!)).toBe(false);
    expect(await outcomeOf(resigning)).toBe('pending');
    end();
    expect(await untilLed(cluster, nodes, 1000)).toBeLessThan(200);
    expect(await outcomeOf(resigning)).toEqual({ value: true });
  });

  it('keeps the permit alive while the work ends, even if that takes longer than the lease', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 1);
    const slow = await cluster.node({ leadership: { lease: LEASE }, shutdownGrace: 4 * LEASE });
    await slow.gatekeeper.cluster.initialize();
    await cluster.time.advance(100);
    await nodes[0]!.gatekeeper.cluster.transferTo(slow.gatekeeper.node.instance);
    await cluster.time.advance(200);
    const { work, end } = openEnd();
    void scopeOf(slow).lead(work);
    void scopeOf(slow).resign();
    await cluster.time.advance(3 * LEASE);
    expect(leads(nodes[0]!)).toBe(false);
    end();
    await untilLed(cluster, nodes, 1000);
  });

  it('by a lost permit has no permit to free, and counts as one end', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const log = heard(nodes[0]!);
    const { term } = scopeOf(nodes[0]!);
    cutOff(nodes[0]!);
    await cluster.time.advance(LEASE);
    expect(term!.signal.reason).toMatchObject({ code: 'permit-lost', reason: 'expired' });
    expect(log).toEqual([`-${term!.token}`]);
    expect(nodes[0]!.of('leadership-lost')).toMatchObject([
      { scope: 'default', token: term!.token, reason: 'expired' },
    ]);
  });

  it('keeps the permit of stuck work until it expires, also if the answer to a refresh comes after the grace', async () => {
    const cluster = newCluster();
    const { time } = cluster;
    const [one, other] = (await candidates(cluster, 2)) as [TestNode, TestNode];
    void scopeOf(one).lead(openEnd().work);
    await time.advance(300);
    let answer: (() => void) | undefined;
    one.store.script = async (call, go, key) => {
      const answered = await go();
      if (call === 'compareAndSet' && key === 'semaphore:leader:default' && !answer)
        await new Promise<void>((resolve) => (answer = resolve));
      return answered;
    };
    await time.advance(1000);
    void scopeOf(one).resign();
    await time.advance(GRACE + 100);
    expect(one.of('problem')).toMatchObject([{ action: 'end the term' }]);
    one.store.script = undefined;
    answer!();
    await time.advance(LEASE - GRACE - 1000);
    expect(leads(other)).toBe(false);
    await time.advance(2 * LEASE);
    expect(leads(other)).toBe(true);
  });
});

describe('lead()', () => {
  it('runs the work in each term of the node', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const tokens: number[] = [];
    const signals: AbortSignal[] = [];
    const done = scopeOf(nodes[0]!).lead((term) => {
      tokens.push(term.token);
      signals.push(term.signal);
      expect(currentPermit().token).toBe(term.token);
    });
    await cluster.time.advance(100);
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(REST + 1000);
    await scopeOf(nodes[1]!).resign();
    await cluster.time.advance(1000);
    expect(tokens).toHaveLength(2);
    expect(tokens[1]).toBeGreaterThan(tokens[0]!);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(await outcomeOf(done)).toBe('pending');
  });

  it('ends with its signal, which the work sees, and the leadership goes on', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 1);
    const stop = new AbortController();
    let term!: Term;
    const done = scopeOf(nodes[0]!).lead(async (given) => {
      term = given;
      await new Promise((resolve) => given.signal.addEventListener('abort', resolve));
    }, stop.signal);
    await cluster.time.advance(100);
    expect(term.isHeld).toBe(true);
    stop.abort();
    expect(await outcomeOf(done)).toEqual({ value: undefined });
    expect(term.isHeld).toBe(false);
    expect(leads(nodes[0]!)).toBe(true);
  });

  it('reports an error of the work, but not the abort that the end of the term caused', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const fault = new Error('no such queue');
    void scopeOf(nodes[0]!).lead(async () => {
      throw fault;
    });
    void scopeOf(nodes[0]!).lead(async (term) => {
      await new Promise((_resolve, reject) => term.signal.addEventListener('abort', () => reject(term.signal.reason)));
    });
    await cluster.time.advance(100);
    expect(leads(nodes[0]!)).toBe(true);
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(100);
    expect(nodes[0]!.of('problem')).toMatchObject([{ action: 'lead', error: fault }]);
  });

  it('does not run the work twice at once, even if the former run ignores its signal', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    let running = 0;
    let most = 0;
    const { work, end } = openEnd();
    void scopeOf(node!).lead(async () => {
      most = Math.max(most, ++running);
      await work();
      running--;
    });
    await cluster.time.advance(100);
    void scopeOf(node!).resign();
    await cluster.time.advance(3 * LEASE);
    expect(leads(node!)).toBe(true);
    expect([running, most]).toEqual([1, 1]);
    end();
    await cluster.time.advance(100);
    expect(most).toBe(1);
  });
});

describe('whenLeader()', () => {
  it('resolves with the term when the node leads, and rejects with the reason of its signal', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    expect(await scopeOf(nodes[0]!).whenLeader()).toBe(scopeOf(nodes[0]!).term);
    const quit = new AbortController();
    const given = scopeOf(nodes[1]!).whenLeader(quit.signal);
    const waiting = scopeOf(nodes[1]!).whenLeader();
    const reason = new Error('enough');
    quit.abort(reason);
    expect(await outcomeOf(given)).toEqual({ error: reason });
    await expect(scopeOf(nodes[1]!).whenLeader(quit.signal)).rejects.toBe(reason);
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(200);
    expect(await outcomeOf(waiting)).toEqual({ value: scopeOf(nodes[1]!).term });
  });
});

describe('a job of the leader', () => {
  it('runs under the term, with the events of a run', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    const token = await scopeOf(node!).run('Jobs.poll', () => currentPermit().token);
    expect(token).toEqual({ executed: true, value: scopeOf(node!).term!.token });
    expect(node!.of('run-finished')).toMatchObject([{ semaphore: NAME, job: 'Jobs.poll' }]);
  });

  it('is skipped elsewhere', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    expect(await scopeOf(nodes[1]!).run('Jobs.poll', () => 1)).toEqual({ executed: false, reason: 'not-leader' });
    expect(nodes[1]!.of('run-skipped')).toEqual([
      { type: 'run-skipped', semaphore: NAME, job: 'Jobs.poll', reason: 'not-leader' },
    ]);
  });

  it('that fails rejects for its caller', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    const fault = new Error('disk full');
    await expect(scopeOf(node!).run('Jobs.poll', () => Promise.reject(fault))).rejects.toBe(fault);
    expect(node!.of('run-finished')).toMatchObject([{ job: 'Jobs.poll', error: fault }]);
  });
});

describe('the history', () => {
  it('shows each term as a run of the scope', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    await cluster.time.advance(5000);
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(100);
    expect(nodes[0]!.of('run-finished')).toMatchObject([
      { semaphore: NAME, job: 'leadership', took: expect.any(Number) },
    ]);
    expect(nodes[1]!.of('run-started')).toMatchObject([{ semaphore: NAME, job: 'leadership' }]);
  });
});
