import { Gate } from '../../lib/console/http/gate.js';
import { ProblemError } from '../../lib/console/api/problem.error.js';

const refusal = (owner?: string) => new ProblemError('too-many-waits', owner ?? 'all');

/** Work that goes on until the test ends it. */
function works(gate: Gate, signal?: AbortSignal) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (owner: string) =>
    gate.during(
      owner,
      () =>
        new Promise<void>((end) => {
          begun.push(owner);
          ends.push(end);
        }),
      signal,
    );
  return { begun, work, end: () => ends.shift()!() };
}

describe('a gate', () => {
  it('has places for each owner, and gives them back', () => {
    const gate = new Gate({ mostEach: 2, refusal });
    const leave = gate.enter('ann');
    gate.enter('ann');
    expect(() => gate.enter('ann')).toThrow('ann');
    gate.enter('bob');
    leave();
    gate.enter('ann');
    expect(() => gate.expectRoom('ann')).toThrow('ann');
  });

  it('has places for all together, and says when they are taken, whoever asks', () => {
    const gate = new Gate({ most: 2, mostEach: 2, refusal });
    gate.enter('ann');
    gate.enter('bob');
    expect(() => gate.enter('carl')).toThrow('all');
  });

  it('counts what goes on already beyond its places', () => {
    const gate = new Gate({ mostEach: 1, refusal });
    const leave = [gate.take('ann'), gate.take('ann')];
    leave[0]!();
    expect(() => gate.enter('ann')).toThrow('ann');
    leave[1]!();
    gate.enter('ann');
  });

  it('lets wait who finds no place, in the order of the requests, and as many of each owner as it may', async () => {
    const gate = new Gate({ most: 1, mostWaitingEach: 2, refusal });
    const { begun, work, end } = works(gate);
    const going = [work('ann'), work('ann'), work('bob'), work('ann')];
    await expect(work('ann')).rejects.toThrow('ann');
    for (let left = going.length; left > 0; left--) {
      end();
      await new Promise(setImmediate);
    }
    await Promise.all(going);
    expect(begun).toEqual(['ann', 'ann', 'bob', 'ann']);
  });

  it('gives the place of a work that failed to the next one', async () => {
    const gate = new Gate({ most: 1, mostWaitingEach: 1, refusal });
    const failing = gate.during('ann', () => Promise.reject(new Error('broken')));
    const next = gate.during('ann', async () => 'done');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
    gate.enter('ann')();
  });

  it('keeps no place for who does not wait any longer', async () => {
    const gate = new Gate({ most: 1, mostWaitingEach: 1, refusal });
    const leave = gate.enter('ann');
    const patience = new AbortController();
    const { begun, work } = works(gate, patience.signal);
    const waiting = work('ann');
    patience.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(work('ann')).rejects.toThrow('gone');
    leave();
    gate.enter('ann');
    expect(begun).toEqual([]);
  });

  it('refuses at once where nobody may wait', async () => {
    const gate = new Gate({ most: 1, refusal });
    gate.enter('ann');
    await expect(gate.during('bob', async () => 'done')).rejects.toThrow('all');
  });
});
