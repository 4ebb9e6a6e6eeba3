import type { Permit, Semaphore } from 'nestjs-gatekeeper';
import { TestGatekeeper } from 'nestjs-gatekeeper/testing';

/** All that the types ask of a permit; nothing of it is cast. */
function plainPermit(): Permit {
  return {
    semaphore: 'export',
    id: 'p1',
    slot: 0,
    token: 1,
    instance: 'i1',
    acquirer: 'app1',
    group: 'a',
    grantedAt: 0,
    expiresAt: 60_000,
    keepAlive: false,
    isGuarded: true,
    signal: new AbortController().signal,
    isHeld: true,
    remaining: 59_000,
    assertHeld: () => {},
    extend: async () => {},
    refresh: jest.fn(async () => true),
    release: jest.fn(async () => {}),
    [Symbol.asyncDispose]: async () => {},
    toJSON: () => ({}),
  };
}

function plainSemaphore(permit: Permit): Semaphore {
  return {
    name: 'export',
    tryAcquire: async () => permit,
    acquire: async () => permit,
    refresh: async () => true,
    release: (given) => given.release(),
    getExpirationPeriod: (given) => given.remaining,
    run: async (work) => ({ executed: true, value: await work(permit) }),
    explain: () => new TestGatekeeper().explain('export'),
  };
}

/** Code of an application that is given its semaphore. */
async function tokenOf(semaphore: Semaphore): Promise<number | undefined> {
  const permit = await semaphore.tryAcquire();
  if (permit) await semaphore.release(permit);
  return permit?.token;
}

describe('a plain object', () => {
  it('stands in for a semaphore and its permit in code that is given one', async () => {
    const permit = plainPermit();
    expect(await tokenOf(plainSemaphore(permit))).toBe(1);
    expect(permit.release).toHaveBeenCalledTimes(1);
  });

  it('is refreshed and released as a permit by the service and by its semaphores', async () => {
    const gatekeeper = new TestGatekeeper();
    for (const verbs of [gatekeeper, gatekeeper.semaphore('export')]) {
      const permit = plainPermit();
      expect(await verbs.refresh(permit, { duration: '5m' })).toBe(true);
      expect(permit.refresh).toHaveBeenCalledWith({ duration: '5m' });
      expect(verbs.getExpirationPeriod(permit)).toBe(59_000);
      await verbs.release(permit);
      expect(permit.release).toHaveBeenCalledTimes(1);
    }
  });
});
