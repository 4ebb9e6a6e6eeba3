import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { TaskStorage } from '../../core/store/task-storage.js';
import { assertRejects, present } from './assertions.js';
import { ContractClients } from './contract-clients.js';
import { writeUntil } from './flows.js';
import { describeQueueContract } from './hint-queue.contract.js';
import type { TaskClientsUnderTest } from './store-under-test.js';
import { describeTaskOutageContract } from './task-outage.contract.js';
import { type Change, assertTrue, latest, next } from './text-change.js';
import { ContractTests, type TestRunner } from './test-runner.js';
import { describeRangeContract } from './text-range.contract.js';
import { describeTextsContract } from './texts.contract.js';

/** Input of {@link describeTaskStorageContract}. */
export interface TaskStorageContract {
  /** Name of the store in the names of the tests. */
  readonly name: string;
  /** Functions of your test runner. */
  readonly runner: TestRunner;
  /** Starts what the store connects to. Called once, before the tests. */
  readonly prepare: () => TaskClientsUnderTest | Promise<TaskClientsUnderTest>;
}

const CALLS: Readonly<Record<string, (tasks: TaskStorage) => Promise<unknown>>> = {
  read: ({ tasks }) => tasks.read('key'),
  readMany: ({ groups }) => groups.readMany(['key']),
  create: ({ tasks }) => tasks.create('key', 'text'),
  replace: ({ groups }) => groups.replace('key', 'text', 'next'),
  remove: ({ tasks }) => tasks.remove('key', 'text'),
  range: ({ tasks }) => tasks.range('', 'z', 1),
  offer: (tasks) => tasks.queue('closed').offer(['hint']),
  poll: (tasks) => tasks.queue('closed').poll(10, new AbortController().signal),
  drain: (tasks) => tasks.queue('closed').drain(1),
  'remove hints': (tasks) => tasks.queue('closed').remove(['hint']),
  peek: (tasks) => tasks.queue('closed').peek(),
  size: (tasks) => tasks.queue('closed').size(),
};

/**
 * Declares the contract of every {@link TaskStorage}, one test per promise. Two clients of the same tasks take part. Keys
 * and names are random, so several contracts may share a server.
 */
export function describeTaskStorageContract({ name, runner, prepare }: TaskStorageContract): void {
  const tests = new ContractTests(runner);
  const clients = new ContractClients(prepare);
  const storages = () => [tasksOf(clients.one), tasksOf(clients.other)] as const;
  tests.describe(`${name} keeps the contract of the storage of tasks`, () => {
    runner.before(clients.start);
    runner.after(clients.stop);

    for (const which of ['tasks', 'groups'] as const) {
      tests.describe(`the texts of ${which}`, () => {
        describeTextsContract(tests, () => [storages()[0][which], storages()[1][which]]);
      });
    }

    tests.it('keeps tasks and groups apart', async () => {
      const key = randomUUID();
      assert.equal(await storages()[0].tasks.create(key, 'task'), undefined);
      assert.equal(await storages()[1].groups.read(key), undefined);
    });

    describeRangeContract(tests, () => [storages()[0].tasks, storages()[1].tasks]);
    describeQueueContract(tests, { storages, open: () => clients.open() });
    describeTaskOutageContract(tests, clients);
    tests.describe('close', () => {
      for (const which of ['tasks', 'groups'] as const) {
        tests.it(
          `ends writes of ${which} under way, and each error is right about what became of its write`,
          async () => {
            const store = await clients.open();
            const texts = tasksOf(store)[which];
            const changes = await writeUntil([(former?: Change) => next(former, texts)], () => store.close());
            for (const change of latest(changes)) await assertTrue(change, storages()[0][which]);
          },
        );
      }

      for (const [method, call] of Object.entries(CALLS)) {
        tests.it(`makes ${method} refuse later calls`, async () => {
          const store = await clients.open();
          await store.close();
          await assertRejects(call(tasksOf(store)), StoreUnavailableError);
        });
      }
    });
  });
}

function tasksOf({ tasks }: { readonly tasks?: TaskStorage | undefined }): TaskStorage {
  return present(tasks, 'tasks');
}
