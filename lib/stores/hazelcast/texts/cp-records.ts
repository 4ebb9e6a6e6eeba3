import type { Client as HazelcastClient, IAtomicReference } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import { atMost } from '../../../core/store/at-most.js';
import type { RecordPage, RecordCollection } from '../../../core/store/driver.js';
import { StoreUnavailableError } from '../../../core/store/store.errors.js';
import { looksUnsafe } from '../client-patches/unsafe-cp.js';
import { sendingNull } from '../client-patches/unwritten-references.js';
import { readFailure } from '../failures.js';
import { textIn } from './foreign-value.js';
import { type TextMap, readEach } from './map-texts.js';

/** The option `cp: true` needs a CP subsystem, but the members have none. */
export class CpMissingError extends StoreUnavailableError {
  static override readonly className = 'CpMissingError';
  override readonly code = 'cp-missing';

  constructor(found: string, options?: ErrorOptions) {
    super(
      `cp: true needs the CP subsystem of Hazelcast, which this cluster does not have (${found}): set ` +
        'cp-subsystem.cp-member-count to 3 or more on the members (open source up to 5.4, Enterprise from 5.5), or leave ' +
        'cp out of hazelcast(options)',
      options,
    );
  }
}

/**
 * Linearizable records: each record is an AtomicReference of the CP subsystem, which keeps an acknowledged write as
 * long as a majority of the CP members lives.
 *
 * CP can't list its objects, so the keys are kept in a map. A node writes the key into the map before it writes the
 * record for the first time. No decision depends on this map: a lost key is only missing in listings, and every node
 * that has seen the key restores it.
 */
export class CpRecords implements RecordCollection {
  /** Keys that this client has seen in the map of keys, or written to it. */
  readonly #keys = new Set<string>();

  private constructor(
    /** The map of keys. */
    readonly map: TextMap,
    private readonly references: CpReferences,
  ) {}

  /**
   * Opens the records after a check that the members have a CP subsystem, and that it answers.
   *
   * @throws CpMissingError if the members have none, or it runs in unsafe mode
   * @throws Error if it does not answer, because fewer members are present than configured
   */
  static async open(client: HazelcastClient, mapName: string): Promise<CpRecords> {
    const map = await client.getMap<string, unknown>(`${mapName}.keys`);
    const references = new CpReferences(client, mapName);
    let isProven = false;
    await atMost(
      PATIENCE,
      proveCp(client, references).then(() => (isProven = true)),
    );
    if (isProven) return new CpRecords(map, references);
    throw new Error(
      `the CP subsystem did not answer within ${PATIENCE} ms: it needs as many members as cp-member-count says`,
    );
  }

  read(key: string): Promise<string | undefined> {
    return textIn(this.references.on(key, (reference) => reference.get()));
  }

  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return readEach(keys, (key) => this.read(key));
  }

  async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    await this.#prepare(key);
    return this.references.on(key, (reference) => reference.compareAndSet(expected ?? null, next));
  }

  /**
   * One page with all texts. Each text needs a separate read, so they arrive over many turns of the event loop anyway.
   */
  async page(prefix: string): Promise<RecordPage> {
    return { texts: await this.readMany(await this.#list(prefix)) };
  }

  /** Runs before the write, so an error here proves that nothing was written. */
  async #prepare(key: string): Promise<void> {
    try {
      await this.references.of(key);
      if (!this.#keys.has(key)) await this.#putKey(key);
    } catch (error) {
      throw readFailure(error);
    }
  }

  async #putKey(key: string): Promise<void> {
    await this.map.set(key, '');
    this.#keys.add(key);
  }

  async #list(prefix: string): Promise<string[]> {
    const listed = new Set([...(await this.map.keySet())].filter((key) => typeof key === 'string'));
    const lost = [...this.#keys].filter((key) => !listed.has(key));
    await Promise.all(lost.map((key) => this.#putKey(key)));
    for (const key of listed) this.#keys.add(key);
    return [...this.#keys].filter((key) => key.startsWith(prefix));
  }
}

/** The CP group of all references. A separate group, so that the load of other applications does not matter. */
const CP_GROUP = 'gatekeeper';

type Reference = IAtomicReference<unknown>;

/**
 * The references of one client, one per record. They are cached, because a new reference needs a call to the members.
 * They are never destroyed, because the name of a destroyed reference can't be used again.
 */
class CpReferences {
  readonly #references = new Map<string, Promise<Reference>>();

  constructor(
    private readonly client: HazelcastClient,
    private readonly mapName: string,
  ) {}

  /** Calls the reference of `key`. */
  async on<T>(key: string, call: (reference: Reference) => Promise<T>): Promise<T> {
    try {
      return await call(await this.of(key));
    } catch (error) {
      // The CP subsystem was reset. The group is created again with a new id, so all references are useless.
      if (error instanceof loadHazelcastClient().CPGroupDestroyedError) this.#references.clear();
      throw error;
    }
  }

  of(key: string, group = CP_GROUP): Promise<Reference> {
    const name = `${this.mapName}:${escaped(key)}@${group}`;
    const known = this.#references.get(name);
    if (known) return known;
    const made = this.#make(name);
    this.#references.set(name, made);
    made.catch(() => this.#references.delete(name));
    return made;
  }

  async #make(name: string): Promise<Reference> {
    return sendingNull(await this.client.getCPSubsystem().getAtomicReference<unknown>(name));
  }
}

/**
 * Escapes characters with a meaning in references' names: "@" begins the group's name, and blanks at the end are lost.
 */
function escaped(key: string): string {
  return key.replace(/[@%;\s\p{Cc}]/gu, (character) => `%${character.codePointAt(0)!.toString(16)};`);
}

/** ms. The first leader of a group is elected about three seconds after the group's first use. */
const PATIENCE = 10_000;

/** Created only if the first group looks unsafe. */
const SECOND_GROUP = `${CP_GROUP}-proof`;

/** Asks the CP subsystem something. @throws CpMissingError if there is none, or it runs in unsafe mode */
async function proveCp(client: HazelcastClient, references: CpReferences): Promise<void> {
  try {
    if (await isUnsafe(client, references))
      throw new CpMissingError('it runs in unsafe mode, since cp-member-count is 0');
    await (await references.of('proof')).get();
  } catch (error) {
    const { UnsupportedOperationError } = loadHazelcastClient();
    if (error instanceof UnsupportedOperationError) throw new CpMissingError(error.message, { cause: error });
    throw error;
  }
}

/** Checks two groups, because one may look unsafe by chance. */
async function isUnsafe(client: HazelcastClient, references: CpReferences): Promise<boolean> {
  for (const group of [CP_GROUP, SECOND_GROUP]) {
    if (!looksUnsafe(client, await references.of('proof', group), group)) return false;
  }
  return true;
}
