import { Agent } from 'node:http';
import { z } from 'zod';
import { faultsOf, onlyFields } from '../../core/decision/only-fields.js';
import { show } from '../../core/decision/texts/show.js';
import { urlText } from '../../core/decision/texts/url-text.js';
import { InvalidOptionsError } from '../../core/decision/invalid-options.error.js';
import type { StoreDefinition } from '../../core/store/driver.js';
import { RemoteDriver } from './remote.driver.js';

export { RemoteRefusedError } from './failures.js';

/** Options of `remote(...)`. */
export interface RemoteOptions {
  /**
   * Address of the console of the other application: `https://jobs.example.com/gatekeeper`. Give several addresses if
   * several of its nodes serve the same cluster. If one fails, the store asks the next.
   */
  readonly url: string | readonly string[];
  /**
   * A token of the other application's option `console.tokens` with the role `node`. This is the highest role: it may
   * write any record and any task. Use HTTPS, unless you control the network.
   */
  readonly token: string;
  /**
   * An agent of `node:http` or `node:https`, for your own certificate authority, client certificates or a proxy. It
   * replaces the store's own agent, and is never closed. For https addresses, use one of `https`.
   */
  readonly agent?: Agent;
}

/** Whatever is wrong with an address: it may contain a password or a token. */
const shown = (input: unknown) => show(typeof input === 'string' ? urlText(input) : input);

const urlSchema = z
  .string({ error: ({ input }) => `${shown(input)} is not text` })
  .refine(isAddress, { error: ({ input }) => `${shown(input)} is no address such as "https://host/gatekeeper"` })
  .transform((url) => url.replace(/\/+$/, ''));

const schema = onlyFields({
  url: z
    .union([urlSchema.transform((url) => [url]), z.array(urlSchema).min(1, { error: 'has no address' })], {
      error: ({ input }) => `${shown(input)} is no address such as "https://host/gatekeeper", nor a list of them`,
    })
    .transform((urls) => [...new Set(urls)]),
  // The token is a secret, so no error text contains it.
  token: z
    .string({
      error: ({ input }) =>
        input === undefined ? 'is missing: is the variable set that it comes from?' : 'is not text',
    })
    .regex(/^[\x21-\x7e]+$/, { error: 'is empty, or has characters that a header can not contain' }),
  agent: z.instanceof(Agent, { error: ({ input }) => `${show(input)} is no agent of http or https` }).optional(),
});

/**
 * Keeps everything in the store of another application that has this package's console. For applications that can't reach
 * Hazelcast themselves. Clock readings come from the members of that store.
 *
 * Opening the store never waits. Until the other application answers, every call fails with StoreUnavailableError, and
 * `health().problem` says why. If the other application refuses this one (RemoteRefusedError), this one does not start.
 *
 * @throws InvalidOptionsError listing every fault
 */
export function remote(options: RemoteOptions): StoreDefinition {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw new InvalidOptionsError('remote(options)', faultsOf(parsed.error));
  const { url: urls, token, agent } = parsed.data;
  const place = `the store of ${urls.join(', ')}`;
  return { kind: 'remote', place, open: (opening) => new RemoteDriver({ urls, token, agent }, opening) };
}

/** Whether a text is an http address without user name and password, which would get into logs. */
function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
