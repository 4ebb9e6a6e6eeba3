import { NotLeaderError, PermitLostError } from 'nestjs-gatekeeper';

describe('the error of a lost permit', () => {
  it.each([
    ['expired', 'its lease ended before it was refreshed'],
    ['revoked', 'it was revoked, or lost with the data of the store'],
    ['max-run-time', 'the run took longer than its maxRunTime'],
    ['stuck', 'the work under it did not stop in time when its term of leadership ended'],
    ['released', 'it was released'],
    ['closing', 'this node shuts down, and the work under it had not ended'],
    ['unguarded', "the run was let through by onUnavailable: 'run' and never had one"],
  ] as const)('says how the permit ended: %s', (reason, sentence) => {
    const error = new PermitLostError('job', reason);
    expect(error).toMatchObject({ code: 'permit-lost', semaphore: 'job', reason });
    expect(error.message).toContain(`the permit of semaphore "job" is not held: ${sentence}`);
    expect(error.message).toMatch(/\. The work that it guarded is not protected any more$/);
  });
});

it('the error of a term that has ended states that too, and orders nothing', () => {
  expect(new NotLeaderError('billing', 'expired').message).toBe(
    'this node does not lead scope "billing" any more (expired). Its work as leader is not protected any more',
  );
});
