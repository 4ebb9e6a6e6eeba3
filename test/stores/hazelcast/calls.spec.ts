import { FirstAttempt } from '../../../lib/core/store/first-attempt.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';
import { oncePerSession } from '../../../lib/stores/hazelcast/calls.js';
import type { Session } from '../../../lib/stores/hazelcast/session.js';
import { callsOver } from './calls-over.js';

const part = () => 'part';
const answer = async () => 'answer';
const fail = async () => {
  throw new Error('no');
};
const client = { getCluster: () => ({ getMembers: () => [{ liteMember: false }] }) };
const session = { client } as unknown as Session;

describe('A call to the members', () => {
  it('keeps the last problem until a call succeeds', async () => {
    const calls = callsOver({ session });
    await expect(calls.reading(part, fail)).rejects.toThrow(StoreUnavailableError);
    expect(calls.problem.text).toContain('no');
    await expect(calls.writing(part, fail)).rejects.toThrow(UnknownOutcomeError);
    expect(calls.problem.text).toContain('may or may not have written');
    expect(await calls.writing(part, answer)).toBe('answer');
    expect(calls.problem.text).toBeUndefined();
  });

  it('waits for the first attempt to connect, unless it is a write that follows a read', async () => {
    const firstAttempt = new FirstAttempt();
    const calls = callsOver({ session, firstAttempt });
    const waiting = [calls.reading(part, answer), calls.writing(part, answer)];
    expect(await calls.writing(part, answer, { followsRead: true })).toBe('answer');
    firstAttempt.end();
    expect(await Promise.all(waiting)).toEqual(['answer', 'answer']);
  });

  it('needs the quorum to write and not to read', async () => {
    const calls = callsOver({ session, quorum: 2 });
    await expect(calls.writing(part, answer)).rejects.toThrow(NoQuorumError);
    expect(await calls.reading(part, answer)).toBe('answer');
  });

  it.each([
    [false, 'no member answers'],
    [true, 'is closed'],
  ])('is refused without a session (closed: %s)', async (isClosed, reason) => {
    const calls = callsOver({ isClosed });
    await expect(calls.reading(part, answer)).rejects.toThrow(reason);
    await expect(calls.writing(part, answer)).rejects.toThrow(reason);
  });

  it('surely wrote nothing when its map or queue could not be opened, and the next call opens it again', async () => {
    const calls = callsOver({ session });
    let opened = 0;
    const once = oncePerSession(async () => (++opened === 1 ? fail() : { opened }));
    await expect(calls.writing(once, answer)).rejects.toThrow(StoreUnavailableError);
    expect(await calls.writing(once, async (found) => found.opened)).toBe(2);
    expect(once(session)).toEqual({ opened: 2 });
  });
});
