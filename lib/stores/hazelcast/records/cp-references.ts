import type { Client as HazelcastClient, IAtomicReference } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import { sendingNull } from '../client-patches/unwritten-references.js';

/** All references are in a separate CP group, independent of the load of other applications. */
export const CP_GROUP = 'gatekeeper';

type Reference = IAtomicReference<unknown>;

/**
 * The references of one client, one per record. Creating one asks the members, so they are cached. They are never
 * destroyed, because the name of a destroyed reference can't be used again.
 */
export class CpReferences {
  readonly #references = new Map<string, Promise<Reference>>();

  constructor(
    readonly client: HazelcastClient,
    readonly mapName: string,
  ) {}

  /** Calls the reference of `key`. */
  async on<T>(key: string, call: (reference: Reference) => Promise<T>): Promise<T> {
    try {
      return await call(await this.of(key));
    } catch (error) {
      // The CP subsystem was reset: the group is created again with another id, which references contain.
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

/** An @ would begin the group's name, and blanks at the end are cut off. */
function escaped(key: string): string {
  return key.replace(/[@%;\s\p{Cc}]/gu, (character) => `%${character.codePointAt(0)!.toString(16)};`);
}
