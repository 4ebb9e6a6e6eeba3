import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { Driver } from '../../core/store/driver.js';
import { eventually } from './eventually.js';
import type { StoreUnderTest } from './store-under-test.js';

/** Waits, and says what the store has to say if it does not connect. */
async function connected(store: Driver, what: string): Promise<void> {
  await eventually(what, () => store.health().connected).catch((error: Error) => {
    throw new Error(`${error.message}; health().problem: ${store.health().problem}`, { cause: error });
  });
}

/** ms. Dozens of calls at once on a busy machine may take long, and their speed is not tested. */
const PATIENT = 20_000;

/** Two clients of one store, which all tests of a contract share, and further ones. */
export class StoreClients {
  #underTest: StoreUnderTest | undefined;
  readonly #opened: Driver[] = [];

  constructor(private readonly prepare: () => StoreUnderTest | Promise<StoreUnderTest>) {}

  get underTest(): StoreUnderTest {
    return this.#underTest!;
  }

  get one(): Driver {
    return this.#opened[0]!;
  }

  get other(): Driver {
    return this.#opened[1]!;
  }

  /** For `before`. */
  readonly start = async (): Promise<void> => {
    this.#underTest = await this.prepare();
    await this.open();
    await this.open();
  };

  /** For `after`, even if {@link start} failed. */
  readonly stop = async (): Promise<void> => {
    await Promise.all(this.#opened.map((store) => store.close()));
    await this.#underTest?.stop();
  };

  /** One more client, connected. @param callTimeout of its calls, in ms */
  async open(callTimeout = PATIENT): Promise<Driver> {
    const store = this.underTest.open({ callTimeout });
    this.#opened.push(store);
    await store.verify?.();
    await connected(store, 'the store is connected');
    return store;
  }

  /**
   * For the end of an outage, which ended the connections of all clients. Resolves when the two that the tests share, and
   * `others`, are connected again.
   */
  async returned(others: readonly Driver[]): Promise<void> {
    for (const store of new Set([this.one, this.other, ...others])) {
      await eventually('the store is connected again', async () => {
        await store.records.read('contract:returned');
        return store.health().connected;
      });
    }
  }

  /** A key without a text. */
  newKey(): string {
    return `contract:${randomUUID()}`;
  }

  /** @returns a new key with that text */
  async written(text: string): Promise<string> {
    const key = this.newKey();
    assert.equal(await this.one.records.compareAndSet(key, undefined, text), true);
    return key;
  }
}
