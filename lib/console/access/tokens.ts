import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { compilePattern } from '../../core/decision/index.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import type { Visitor } from '../api/caller.js';

type ParsedToken = ConsoleSettings['tokens'][number];

/** ms for which a session stands for its token: a working day. */
const SESSION = 12 * 60 * 60_000;

/** A token as it is kept. */
interface Known {
  readonly visitor: Visitor;
  readonly digest: Buffer;
}

/**
 * The tokens of the console, and the sessions that stand for them. Keeps only hashes of the tokens, and nothing of the sessions:
 *
 *     session = end "." HMAC-SHA256(hash of the token, end)
 *
 * A node checks a session with the token. The sessions of a token end when it is removed from the options. Only someone with the
 * token can make a session, or change its end.
 */
@Injectable()
export class Tokens {
  readonly #known: readonly Known[];

  constructor(@Inject(CONSOLE_SETTINGS) { tokens }: Pick<ConsoleSettings, 'tokens'>) {
    this.#known = tokens.map((each) => ({ visitor: visitorOf(each), digest: digestOf(each.token) }));
  }

  get areGiven(): boolean {
    return this.#known.length > 0;
  }

  /** Finds the visitor of the token in an Authorization header. */
  visitorWith(authorization: string | undefined): Visitor | undefined {
    return this.#with(authorization)?.visitor;
  }

  /** A session for the token in an Authorization header; undefined if there is no such token. */
  sessionFor(authorization: string | undefined): string | undefined {
    const known = this.#with(authorization);
    const end = String(Date.now() + SESSION);
    return known && `${end}.${signatureOf(end, known).toString('base64url')}`;
  }

  /** Finds the visitor of a session. Undefined if it has ended, or none of the tokens made it. */
  visitorIn(session: string): Visitor | undefined {
    const [, end, signature] = /^(\d{13,15})\.([\w-]{43})$/.exec(session) ?? [];
    if (end === undefined || Number(end) <= Date.now()) return undefined;
    const sent = Buffer.from(signature!, 'base64url');
    const known = this.#find((each) => timingSafeEqual(signatureOf(end, each), sent));
    return known && { ...known.visitor, endsAt: Number(end) };
  }

  #with(authorization: string | undefined): Known | undefined {
    const sent = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    const digest = digestOf(sent ?? '');
    return this.#find((known) => timingSafeEqual(known.digest, digest) && sent !== undefined);
  }

  /**
   * Its duration reveals nothing about the tokens: `isIt` compares hashes of equal length in constant time, and all of them
   * are compared.
   */
  #find(isIt: (known: Known) => boolean): Known | undefined {
    let found: Known | undefined;
    for (const known of this.#known) if (isIt(known)) found = known;
    return found;
  }
}

function signatureOf(end: string, { digest }: Known): Buffer {
  return createHmac('sha256', digest).update(`gatekeeper session ${end}`).digest();
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
