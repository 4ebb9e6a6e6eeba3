import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { RecordStore } from '../../core/store/store.js';
import type { TaskStorage } from '../../core/store/task-storage.js';
import { assertRejects, present } from './assertions.js';
import type { ContractClients } from './contract-clients.js';
import { eventually } from './eventually.js';
import { FLOWS, writeUntil } from './flows.js';
import type { TaskClientsUnderTest } from './store-under-test.js';
import { type Change, assertTrue, latest, next } from './text-change.js';
import type { ContractTests } from './test-runner.js';

/** Timeout of calls, in ms. */
const HASTY = 1000;
/** Longer than any test may take, in ms. */
const FOR_EVER = 60_000;
const READS: Readonly<Record<string, (tasks: TaskStorage) => Promise<unknown>>> = {
  read: ({ tasks }) => tasks.read('key'),
  readMany: ({ groups }) => groups.readMany(['key']),
  range: ({ tasks }) => tasks.range('', 'z', 1),
  peek: (tasks) => tasks.queue('outage').peek(),
  size: (tasks) => tasks.queue('outage').size(),
};

/**
 * Contract of the errors of {@link TaskStorage}. After a StoreUnavailableError the caller submits a task again, or lets
 * another node have it: if the write was applied, the task runs twice.
 */
export function describeTaskOutageContract(tests: ContractTests, clients: ContractClients<TaskClientsUnderTest>): void {
  const scene = new TaskOutage(clients);
  let isSaid = false;
  const it = (name: string, test: () => Promise<void>) =>
    tests.it(name, async () => {
      if (clients.underTest.outage) return test();
      if (!isSaid) process.stderr.write('Not tested: errors of tasks in an outage. Give `outage` in `prepare`\n');
      isSaid = true;
    });

  tests.describe('an outage', () => {
    for (const [name, read] of Object.entries(READS)) {
      it(`makes ${name} fail with a StoreUnavailableError`, () =>
        scene.during(async ([one]) => assertRejects(read(one), StoreUnavailableError)));
    }

    for (const which of ['tasks', 'groups'] as const) {
      it(`breaks off many changes of ${which}, and each error is right about what became of its change`, async () => {
        const changes = await scene.breakOff(which);
        assert.ok(changes.filter(({ outcome }) => outcome !== true).length >= FLOWS, 'No change met the outage');
        const [, other] = await scene.storages();
        for (const change of changes) await assertTrue(change, other[which]);
      });
    }

    it('ends a poll that waits with an error of the store, or the poll goes on; later polls get hints', async () => {
      const [one, other] = await scene.storages();
      const [name, { signal }] = [randomUUID(), new AbortController()];
      let ended: unknown;
      const polling = one.queue(name).poll(FOR_EVER, signal);
      void polling.catch((error: unknown) => error).then((outcome) => (ended = outcome));
      await scene.during(async () => undefined);
      await eventually('the poll ends', async () => {
        await other.queue(name).offer(['hint']);
        return ended !== undefined;
      });
      assert.ok(ended === 'hint' || ended instanceof GatekeeperError, `The poll ended with ${String(ended)}`);
      await other.queue(name).offer(['hint']);
      assert.equal(await one.queue(name).poll(FOR_EVER, signal), 'hint');
    });
  });
}

/** Two clients with short timeouts, and what happens to them. */
class TaskOutage {
  #stores: Promise<readonly [RecordStore, RecordStore]> | undefined;

  constructor(private readonly clients: ContractClients<TaskClientsUnderTest>) {}

  async storages(): Promise<readonly [TaskStorage, TaskStorage]> {
    const [one, other] = await this.#opened();
    return [present(one.tasks, 'tasks'), present(other.tasks, 'tasks')];
  }

  /** Acts while the store is out of reach. Resolves when all clients are connected again. */
  async during<T>(act: (storages: readonly [TaskStorage, TaskStorage]) => Promise<T>): Promise<T> {
    const storages = await this.storages();
    const outage = this.clients.underTest.outage!;
    await outage.begin();
    try {
      return await act(storages);
    } finally {
      await outage.end();
      await this.clients.returned(await this.#opened());
    }
  }

  /** Changes texts in several flows, until each flow met the outage. */
  async breakOff(which: 'tasks' | 'groups'): Promise<Change[]> {
    const steps = (await this.storages()).map((tasks) => (former?: Change) => next(former, tasks[which]));
    return latest(await writeUntil(steps, (all) => this.during(() => all)));
  }

  #opened(): Promise<readonly [RecordStore, RecordStore]> {
    return (this.#stores ??= (async () => [await this.clients.open(HASTY), await this.clients.open(HASTY)])());
  }
}
