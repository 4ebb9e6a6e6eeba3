import { strict as assert } from 'node:assert';
import { eventually } from './eventually.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';

/** ms by which two readings of one clock may be off, because they are rounded. */
const ROUNDING = 2;

/** Contract of {@link Driver.now}. */
export function describeClockContract({ describe, it }: ContractTests, clients: StoreClients): void {
  describe('the clock', () => {
    it('moves on as fast as real time', async () => {
      const began = performance.now();
      const first = await clients.one.now();
      const firstRead = performance.now();
      await eventually('time passed', () => performance.now() - firstRead > 60);
      const again = performance.now();
      const moved = (await clients.one.now()).time - first.time;
      const [least, most] = [Math.floor(again - firstRead), Math.ceil(performance.now() - began)];
      assert.ok(moved >= least - ROUNDING && moved <= most + ROUNDING, `${moved} ms, not ${least} to ${most} ms`);
    });

    it('tells ms since the epoch, as near to the clock of this host as its author says', async () => {
      const { clockTolerance = 2 } = clients.underTest;
      const before = Date.now();
      const { time } = await clients.one.now();
      const off = Math.max(before - time, time - Date.now());
      assert.ok(off <= clockTolerance, `The clocks differ by ${off} ms, more than clockTolerance`);
    });

    it('names the member that answered, to every client alike', async () => {
      const { members = 1 } = clients.underTest;
      const [mine, theirs] = [new Set<string>(), new Set<string>()];
      await eventually('all members answered both clients', async () => {
        mine.add((await clients.one.now()).member);
        theirs.add((await clients.other.now()).member);
        return mine.size >= members && theirs.size >= members;
      });
      assert.ok(!mine.has(''), 'A member has no name');
      assert.equal(mine.size, members);
      assert.deepEqual(theirs, mine);
    });
  });
}
