import type { Client as HazelcastClient, IAtomicReference } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import { sendingNull } from '../client-patches/unwritten-references.js';

/** The CP group of all references. A separate group, so that the load of other applications does not matter. */
export const CP_GROUP = 'gatekeeper';

type Reference = IAtomicReference<unknown>;

/**
 * The references of one client, one per record. They are cached, because a new reference needs a call to the members.
 * They are never destroyed, because the name of a destroyed reference can't be used again.
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
