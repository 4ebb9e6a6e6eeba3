import { InvalidOptionsError, PermitLostError, currentPermit } from 'nestjs-gatekeeper';
import { JOB, openEnd, outcomeOf, useCluster } from '../../../support/nodes.js';

const BY = { by: 'ann', reason: 'flood' };

/** Work that fails with numbered errors, until the attempt with the number `good`. */
function failing(good = Infinity) {
  const attempts: number[] = [];
  const work = () => {
    attempts.push(attempts.length + 1);
    if (attempts.length < good) throw new Error(`fault ${attempts.length}`);
    return 'done';
  };
  return { attempts, work };
}

describe('a run with retry', () => {
  const cluster = useCluster();

  it('is tried again after the pause, and reports a single end', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const { work, attempts } = failing(3);
    const running = gatekeeper.run('job', work, { retry: { attempts: 3, backoff: '5s' } });
    await nodes.time.advance(4999);
    expect(attempts).toEqual([1]);
    await nodes.time.advance(1);
    expect(attempts).toEqual([1, 2]);
    await nodes.time.advance(5000);
    expect(await running).toEqual({ executed: true, value: 'done' });
    expect(of('run-started')).toHaveLength(1);
    expect(of('run-finished')).toEqual([expect.objectContaining({ attempts: 3, took: 10_000 })]);
    expect(of('run-finished')[0]).not.toHaveProperty('error');
    const failed = of('run-attempt-failed').map(({ attempt, attempts: most, pause, error }) => ({
      attempt,
      most,
      pause,
      message: (error as Error).message,
    }));
    expect(failed).toEqual([
      { attempt: 1, most: 3, pause: 5000, message: 'fault 1' },
      { attempt: 2, most: 3, pause: 5000, message: 'fault 2' },
    ]);
  });

  it('fails with the error of the last attempt', async () => {
    const nodes = cluster();
    const { gatekeeper, of, log } = await nodes.node();
    const { work, attempts } = failing();
    const running = gatekeeper.run('job', work, { retry: { attempts: 2, backoff: 0 } });
    await expect(running).rejects.toThrow('fault 2');
    expect(attempts).toEqual([1, 2]);
    expect(of('run-finished')).toEqual([expect.objectContaining({ attempts: 2 })]);
    expect(log).toContain('warn "job": attempt 1 of 2 of job failed, the next begins in 0 ms: fault 1');
  });

  it('keeps its permit and token through a pause that is longer than the permit', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const tokens: number[] = [];
    const { work } = failing(2);
    const noted = () => {
      tokens.push(currentPermit().token);
      return work();
    };
    const running = one.gatekeeper.run('job', noted, { retry: { attempts: 2, backoff: '1m' } });
    await nodes.time.advance(45_000);
    expect(await other.gatekeeper.run('job', () => 2)).toEqual({ executed: false, reason: 'no-permit' });
    await nodes.time.advance(15_000);
    expect(await running).toEqual({ executed: true, value: 'done' });
    expect(new Set(tokens).size).toBe(1);
  });

  it('doubles a growing pause up to the longest one, and leaves out at most half of it', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const running = gatekeeper.run('job', failing().work, {
      retry: { attempts: 5, backoff: { first: '2s', longest: '6s' } },
    });
    running.catch(() => undefined);
    await nodes.time.advance(20_000);
    await expect(running).rejects.toThrow('fault 5');
    const pauses = of('run-attempt-failed').map(({ pause }) => pause);
    expect(pauses).toHaveLength(4);
    for (const [index, most] of [2000, 4000, 6000, 6000].entries()) {
      expect(pauses[index]).toBeLessThanOrEqual(most);
      expect(pauses[index]).toBeGreaterThanOrEqual(most / 2);
    }
  });

  it('ends at once when its permit is revoked during a pause', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const { work, attempts } = failing();
    const running = one.gatekeeper.run('job', work, { retry: { attempts: 3, backoff: '1h' } });
    running.catch(() => undefined);
    await nodes.time.advance(100);
    const [permit] = (await nodes.record()).permits;
    await other.gatekeeper.definitions.revoke('job', permit!.id, BY);
    await nodes.time.advance(0);
    expect(await outcomeOf(running)).toEqual({ error: new Error('fault 1') });
    expect(attempts).toEqual([1]);
  });

  it('is not tried again after its permit was lost during an attempt', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const work = () =>
      new Promise((_, reject) => {
        const { signal } = currentPermit();
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const running = gatekeeper.run('job', work, { maxRunTime: '3s', retry: { attempts: 3, backoff: 0 } });
    running.catch(() => undefined);
    await nodes.time.advance(3000);
    await expect(running).rejects.toBeInstanceOf(PermitLostError);
    expect(of('run-attempt-failed')).toEqual([]);
    expect(of('run-finished')).toEqual([expect.objectContaining({ attempts: 1 })]);
  });

  it('never goes beyond maxRunTime, which limits all attempts together', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const { work, attempts } = failing();
    const running = gatekeeper.run('job', work, { maxRunTime: '12s', retry: { attempts: 20, backoff: '5s' } });
    running.catch(() => undefined);
    await nodes.time.advance(12_000);
    await expect(running).rejects.toThrow('fault 3');
    expect(attempts).toEqual([1, 2, 3]);
    expect(of('lost')).toEqual([expect.objectContaining({ reason: 'max-run-time' })]);
  });

  it('ends at once when an operator pauses the semaphore on another node', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const { work, attempts } = failing();
    const running = one.gatekeeper.run('job', work, { retry: { attempts: 3, backoff: '1h' } });
    running.catch(() => undefined);
    await nodes.time.advance(100);
    await other.gatekeeper.definitions.pause('job', BY);
    await nodes.time.advance(0);
    expect(await outcomeOf(running)).toEqual({ error: new Error('fault 1') });
    expect(attempts).toEqual([1]);
  });

  it('begins no attempt after the job was moved to another node, but goes on after other edits', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const { work, attempts } = failing();
    const running = gatekeeper.run('job', work, { retry: { attempts: 5, backoff: '1m' } });
    running.catch(() => undefined);
    await nodes.time.advance(100);
    await gatekeeper.definitions.edit('job', { duration: '20s' }, BY);
    await nodes.time.advance(60_000);
    expect(attempts).toEqual([1, 2]);
    await gatekeeper.definitions.edit('job', { acquirerPattern: 'app9' }, BY);
    await nodes.time.advance(0);
    expect(await outcomeOf(running)).toEqual({ error: new Error('fault 2') });
  });

  it('ends at once when its node shuts down', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const { work, attempts } = failing();
    const running = gatekeeper.run('job', work, { retry: { attempts: 3, backoff: '1h' } });
    running.catch(() => undefined);
    await nodes.time.advance(100);
    const closing = gatekeeper.drain();
    expect(await outcomeOf(running)).toEqual({ error: new Error('fault 1') });
    await closing;
    expect(attempts).toEqual([1]);
  });

  it('counts as the former run of its job until its last attempt', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const running = gatekeeper.run('job', failing(2).work, { retry: { attempts: 2, backoff: '5s' } });
    await nodes.time.advance(100);
    expect(await gatekeeper.run('job', () => 2)).toEqual({ executed: false, reason: 'overlap' });
    await nodes.time.advance(4900);
    await running;
  });

  it('asks retryIf about each error, and reports an error of retryIf', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const permanent = new TypeError('bad data');
    const work = () => Promise.reject(permanent);
    const onlyOthers = (error: unknown) => !(error instanceof TypeError);
    const retry = { attempts: 3, backoff: 0, retryIf: onlyOthers };
    await expect(gatekeeper.run('job', work, { retry })).rejects.toBe(permanent);
    expect(of('run-attempt-failed')).toEqual([]);
    const fault = new Error('no opinion');
    const throwing = {
      attempts: 3,
      backoff: 0,
      retryIf: (): boolean => {
        throw fault;
      },
    };
    await expect(gatekeeper.run('job', work, { retry: throwing })).rejects.toBe(permanent);
    expect(of('problem')).toEqual([{ type: 'problem', semaphore: 'job', action: 'retryIf', error: fault }]);
  });

  it('waits for the answer of a retryIf that is async, and reports its error', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const fault = new Error('no opinion');
    for (const [retryIf, attempts] of [
      [async () => false, 1],
      [async () => true, 3],
      [() => Promise.reject<boolean>(fault), 1],
    ] as const) {
      let count = 0;
      const work = () => Promise.reject(new Error(`attempt ${++count}`));
      const retry = { attempts: 3, backoff: 0, retryIf };
      await expect(gatekeeper.run('job', work, { retry })).rejects.toThrow(`attempt ${attempts}`);
    }
    expect(of('problem')).toEqual([{ type: 'problem', semaphore: 'job', action: 'retryIf', error: fault }]);
  });

  it('is not tried again without a permit', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = await nodes.node();
    store.script = async () => {
      const { StoreUnavailableError } = await import('nestjs-gatekeeper');
      throw new StoreUnavailableError('away');
    };
    const { work, attempts } = failing();
    const retry = { attempts: 3, backoff: 0 };
    await expect(gatekeeper.run('job', work, { onUnavailable: 'run', retry })).rejects.toThrow('fault 1');
    expect(attempts).toEqual([1]);
    expect(of('run-unguarded')).toHaveLength(1);
  });

  it('has its attempts in the history', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ history: true });
    const running = gatekeeper.run('job', failing(2).work, { retry: { attempts: 3, backoff: '1s' } });
    await nodes.time.advance(1000);
    await running;
    await gatekeeper.run('job', () => 1, { job: 'other' });
    await nodes.time.advance(2000);
    const history = await gatekeeper.history(10);
    expect(history).toEqual([
      expect.objectContaining({ job: 'job', outcome: 'ok', attempts: 2 }),
      expect.objectContaining({ job: 'other', outcome: 'ok' }),
    ]);
    expect(history[1]).not.toHaveProperty('attempts');
  });

  it.each([
    [{ attempts: 1 }, 'retry.attempts: 1 is not a whole number from 2 to 20'],
    [{ attempts: 21 }, 'retry.attempts: 21 '],
    [{ attempts: '3' }, 'retry.attempts: "3" '],
    [{ attempts: 2, backoff: '2h' }, 'retry.backoff: "2h" is longer than 1h'],
    [{ attempts: 2, backoff: -1 }, 'retry.backoff: -1 '],
    [{ attempts: 2, backoff: { first: 'soon' } }, 'retry.backoff.first: "soon"'],
    [{ attempts: 2, backoff: { first: '10s', longest: '5s' } }, 'retry.backoff.longest: 5000 ms is shorter than'],
    [{ attempts: 2, backof: '1s' }, 'retry.backof: '],
    [{ attempts: 2, retryIf: true }, 'retry.retryIf: true is not a function'],
    [3, 'retry: 3 '],
  ])('refuses %j', async (retry, fault) => {
    const { gatekeeper } = await cluster().node({ definitions: [JOB] });
    const running = gatekeeper.run('job', openEnd().work, { retry: retry as never });
    const error = await running.catch((reason: unknown) => reason as InvalidOptionsError);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect((error as InvalidOptionsError).message).toContain(fault);
  });
});
