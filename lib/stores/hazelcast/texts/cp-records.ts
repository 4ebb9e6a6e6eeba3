import type { Client as HazelcastClient } from 'hazelcast-client';
import type { RecordPage, RecordTexts } from '../../../core/store/driver.js';
import { readFailure } from '../failures.js';
import { CpReferences } from './cp-references.js';
import { proveCp } from './cp-proof.js';
import { textIn } from './foreign-value.js';
import type { TextMap } from './map-texts.js';

/** Number of concurrent reads in a listing. */
const READS_AT_ONCE = 64;

/**
 * Linearizable records: each record is an AtomicReference of the CP subsystem, which keeps an acknowledged write as
 * long as a majority of the CP members lives.
 *
 * CP can't list its objects, so the keys are kept in a map. A node writes the key into the map before it writes the
 * record for the first time. No decision depends on this map: a lost key is only missing in listings, and every node
 * that has seen the key restores it.
 */
export class CpRecords implements RecordTexts {
  readonly #references: CpReferences;
  /** Keys that this client has seen in the map of keys, or written to it. */
  readonly #keys = new Set<string>();

  constructor(
    readonly client: HazelcastClient,
    readonly mapName: string,
    readonly keyMap: TextMap,
  ) {
    this.#references = new CpReferences(client, mapName);
  }

  /** @throws CpMissingError if the cluster has no CP subsystem */
  prove(): Promise<void> {
    return proveCp(this.client, this.#references);
  }

  read(key: string): Promise<string | undefined> {
    return textIn(this.#references.on(key, (reference) => reference.get()));
  }

  async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    await this.#prepare(key);
    return this.#references.on(key, (reference) => reference.compareAndSet(expected ?? null, next));
  }

  /**
   * One page with all texts. Each text needs a separate read, so they arrive over many turns of the event loop anyway.
   */
  async page(prefix: string): Promise<RecordPage> {
    return { texts: await this.readMany(await this.#list(prefix)) };
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    const texts = new Map<string, string>();
    for (let at = 0; at < keys.length; at += READS_AT_ONCE) {
      const some = keys.slice(at, at + READS_AT_ONCE);
      const read = await Promise.all(some.map((key) => this.read(key)));
      some.forEach((key, index) => read[index] !== undefined && texts.set(key, read[index]));
    }
    return texts;
  }

  /** Runs before the write, so an error here proves that nothing was written. */
  async #prepare(key: string): Promise<void> {
    try {
      await this.#references.of(key);
      if (!this.#keys.has(key)) await this.#putKey(key);
    } catch (error) {
      throw readFailure(error);
    }
  }

  async #putKey(key: string): Promise<void> {
    await this.keyMap.set(key, '');
    this.#keys.add(key);
  }

  async #list(prefix: string): Promise<string[]> {
    const listed = new Set([...(await this.keyMap.keySet())].filter((key) => typeof key === 'string'));
    const lost = [...this.#keys].filter((key) => !listed.has(key));
    await Promise.all(lost.map((key) => this.#putKey(key)));
    for (const key of listed) this.#keys.add(key);
    return [...this.#keys].filter((key) => key.startsWith(prefix));
  }
}
