import { isIPv6 } from 'node:net';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { show } from '../../core/decision/index.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import { type ConsoleRequest, rawRequest } from '../http/console-request.js';
import { ProblemError } from '../api/problem.error.js';
import { Allowance } from './allowance.js';

/** Wrong tokens per address. */
const ATTEMPTS = { atOnce: 20, perSecond: 0.5 };
/** Log lines per address: the first at once, then one a minute. */
const LINES = { atOnce: 1, perSecond: 1 / 60 };

/**
 * Counts wrong tokens by the sender's address. Logs them at a limited rate, and refuses too many of them. A valid token
 * always passes: otherwise one client behind a proxy could lock out all other clients.
 */
@Injectable()
export class FailedAttempts {
  readonly #logger = new Logger('Gatekeeper');
  readonly #attempts = new Allowance(ATTEMPTS);
  readonly #lines = new Allowance(LINES);

  constructor(@Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings) {}

  /**
   * Counts a wrong token. Does not log it, because it may be valid elsewhere.
   *
   * @throws ProblemError if there are too many
   */
  note(request: ConsoleRequest): void {
    const address = networkOf(this.#addressOf(request));
    if (this.#lines.take(address) === 0) {
      this.#logger.warn(
        `the console refused a wrong token from ${show(address)}; further ones are logged once a minute`,
      );
    }
    const wait = this.#attempts.take(address);
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1000);
    const detail = `too many wrong tokens came from this address: send one of the option console.tokens, after ${seconds} s`;
    throw new ProblemError('too-many-attempts', detail, { retryAfter: seconds });
  }

  /** Returns the sender's address. Behind a trusted proxy, that is the address that the proxy reports. */
  #addressOf(request: ConsoleRequest): string {
    const forwarded = this.settings.trustProxy ? request.headers['x-forwarded-for'] : undefined;
    const last = String(forwarded ?? '')
      .split(',')
      .at(-1)!
      .trim();
    return last === '' ? (rawRequest(request).socket.remoteAddress ?? 'an unknown address') : last.slice(0, 50);
  }
}

/**
 * Returns the network that stands for an address. For IPv6 that is its /64 network, because one host may have all
 * addresses of it. IPv4 addresses (also those written as IPv6) and texts that are no address stay as they are.
 */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::')) return address;
  const [front = [], back] = address.split('::').map((part) => part.split(':'));
  const zeros = back === undefined ? 0 : 8 - front.length - back.length;
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...(back ?? [])].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
