import { createHash, timingSafeEqual } from 'node:crypto';
import type { Role } from '../api/index.js';
import type { ConsoleToken } from '../console.options.js';

/** Who sends a request, and what that one may do. */
export interface Visitor {
  /** Stands beside changes in the audit log. */
  readonly user: string;
  readonly role: Role;
}

/** The tokens that open the console; only their hashes are kept. */
export class Tokens {
  readonly #known: readonly (Visitor & { readonly digest: Buffer })[];

  constructor(tokens: readonly ConsoleToken[]) {
    this.#known = tokens.map(({ token, name, role }) => ({ user: name, role, digest: digestOf(token) }));
  }

  get areGiven(): boolean {
    return this.#known.length > 0;
  }

  /**
   * Whose token an Authorization header carries. How long it takes tells nothing of the tokens: hashes of one length
   * are compared in constant time, and all of them are looked at.
   */
  visitorWith(authorization: string | undefined): Visitor | undefined {
    const sent = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    const digest = digestOf(sent ?? '');
    let found: Visitor | undefined;
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest) && sent !== undefined) found = { user: known.user, role: known.role };
    }
    return found;
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
