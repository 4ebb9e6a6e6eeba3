import { createHash, timingSafeEqual } from 'node:crypto';
import { compilePattern } from '../../core/decision/index.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import type { Visitor } from '../api/caller.js';

type ParsedToken = ConsoleSettings['tokens'][number];

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
