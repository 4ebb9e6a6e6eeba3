import { createHash, timingSafeEqual } from 'node:crypto';
import { compilePattern } from '../../decision/index.js';
import type { Role } from '../api/index.js';
import type { ConsoleToken } from '../console.options.js';

/** The sender of a request, and what it may do. */
export interface Visitor {
  /** Shown with changes in the audit log. */
  readonly user: string;
  readonly role: Role;
  /** The semaphores that it may see and change; absent: all. */
  readonly names?: { readonly pattern: string; readonly matches: (name: string) => boolean };
  /** True: it may only take, refresh and release permits. */
  readonly permitsOnly?: boolean;
}

/** The tokens that open the console; only their hashes are kept. */
export class Tokens {
  readonly #known: readonly { readonly visitor: Visitor; readonly digest: Buffer }[];

  constructor(tokens: readonly ConsoleToken[]) {
    this.#known = tokens.map((each) => ({ visitor: visitorOf(each), digest: digestOf(each.token) }));
  }

  get areGiven(): boolean {
    return this.#known.length > 0;
  }

  /**
   * Finds the visitor of the token in an Authorization header. The time that it takes reveals nothing about the tokens:
   * hashes of equal length are compared in constant time, and always all of them.
   */
  visitorWith(authorization: string | undefined): Visitor | undefined {
    const sent = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    const digest = digestOf(sent ?? '');
    let found: Visitor | undefined;
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest) && sent !== undefined) found = known.visitor;
    }
    return found;
  }
}

function visitorOf({ name, role, names, permitsOnly }: ConsoleToken): Visitor {
  return { user: name, role, ...(names !== undefined && { names: limit(names) }), ...(permitsOnly && { permitsOnly }) };
}

/** @param pattern was checked with the options; an invalid one matches no name */
function limit(pattern: string): Visitor['names'] {
  const matches = compilePattern(pattern);
  return { pattern, matches: typeof matches === 'string' ? () => false : matches };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
