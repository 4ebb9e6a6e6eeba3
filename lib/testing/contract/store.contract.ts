import { strict as assert } from 'node:assert';
import { describeClockContract } from './clock.contract.js';
import { describeClosingContract } from './closing.contract.js';
import { StoreClients } from './store-clients.js';
import { describeQueueContract } from './hint-queue.contract.js';
import { describeJournalContract } from './journal.contract.js';
import { describeListingContract } from './listing.contract.js';
import { describeOutageContract } from './outage.contract.js';
import type { StoreContract } from './store-under-test.js';
import { ContractTests } from './test-runner.js';
import { describeRangeContract } from './text-range.contract.js';
import { describeTextsContract } from './texts.contract.js';
import { describeWatchContract } from './watch.contract.js';

/**
 * Declares the contract of every `Driver`, one test per promise. Two clients of the same store take part,
 * because most promises are about two nodes. Keys and names are random, so several contracts may share a server.
 */
export function describeStoreContract({ name, runner, prepare, lacks = {} }: StoreContract): void {
  const tests = new ContractTests(runner);
  const clients = new StoreClients(prepare);
  tests.describe(`${name} keeps the store's contract`, () => {
    runner.before(clients.start);
    runner.after(clients.stop);
    describeTextsContract(tests, clients);
    describeListingContract(tests, clients);
    describeRangeContract(tests, clients);
    describeQueueContract(tests, clients);
    describeWatchContract(tests, clients);
    describeJournalContract(tests, clients);
    describeClockContract(tests, clients);
    describeHealth(tests, clients);
    describeClosingContract(tests, clients);
    describeOutageContract(tests, clients, lacks);
  });
}

function describeHealth({ describe, it }: ContractTests, clients: StoreClients): void {
  describe('health', () => {
    it('says that it is connected and sees members', async () => {
      const { members = 1, quorum = 0 } = clients.underTest;
      const { connected, members: seen, quorum: needed, problem } = clients.one.health();
      assert.deepEqual(
        { connected, seen, needed, problem },
        {
          connected: true,
          seen: members,
          needed: quorum,
          problem: undefined,
        },
      );
    });
  });
}
