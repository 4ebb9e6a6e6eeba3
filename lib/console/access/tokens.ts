import { createHash, timingSafeEqual } from 'node:crypto';
import { compilePattern } from '../../core/decision/index.js';
import type { Role } from '../api/index.js';
import type { ConsoleSettings } from '../console.settings.js';

type ParsedToken = ConsoleSettings['tokens'][number];

/** The sender of a request, and its rights. */
export interface Visitor {
  /** Name of the sender, for the audit log. */
  readonly user: string;
  readonly role: Role;
  /** The semaphores that it may see and change; absent if it may see and change all. */
  readonly names?: { readonly pattern: string; readonly matches: (name: string) => boolean };
  /** Whether others may send requests under the same name: it is of no token, and no guard gave it. */
  readonly isNameless?: boolean;
  /** ms of the longest lease of a task; absent: the usual one. */
  readonly maxLease?: number;
  /** Whether the sender may only take, refresh and release permits. */
  readonly permitsOnly?: boolean;
}

/** The tokens of the console. Keeps only their hashes. */
export class Tokens {
  readonly #known: readonly { readonly visitor: Visitor; readonly digest: Buffer }[];

  constructor(tokens: readonly ParsedToken[]) {
    this.#known = tokens.map((each) => ({ visitor: visitorOf(each), digest: digestOf(each.token) }));
  }

  get areGiven(): boolean {
    return this.#known.length > 0;
  }

  /**
   * Finds the visitor of the token in an Authorization header. Its duration reveals nothing about the tokens: it
   * compares hashes of equal length in constant time, and always compares all of them.
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

function visitorOf({ name, role, names, permitsOnly, maxLease }: ParsedToken): Visitor {
  return {
    user: name,
    role,
    ...(names !== undefined && { names: limit(names) }),
    ...(permitsOnly && { permitsOnly }),
    ...(maxLease !== undefined && { maxLease }),
  };
}

/** @param pattern a pattern that was checked with the options; an invalid one matches no name */
function limit(pattern: string): Visitor['names'] {
  const matches = compilePattern(pattern);
  return { pattern, matches: typeof matches === 'string' ? () => false : matches };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
