import { Agent } from 'node:http';
import { z } from 'zod';
import { faultsOf, onlyFields } from '../../decision/only-fields.js';
import { show } from '../../decision/texts/show.js';
import { InvalidOptionsError } from '../../decision/invalid-options.error.js';
import type { StoreDefinition } from '../store.js';
import { RemoteStore } from './remote.store.js';

export { RemoteRefusedError } from './failures.js';

/** Options of `remote(...)`. */
export interface RemoteOptions {
  /**
   * Where the console of the application with the store is mounted: "https://jobs.example.com/gatekeeper". Several, when
   * several nodes of it serve the same cluster: the next is asked when one fails.
   */
  readonly url: string | readonly string[];
  /** A token of its option `console.tokens`, with the role node. */
  readonly token: string;
  /** Replaces the store's own agent: for certificates, or a proxy. Never closed. Use one of `https` for https addresses. */
  readonly agent?: Agent;
}

const urlSchema = z
  .string({ error: ({ input }) => `${show(input)} is not text` })
  .refine(isAddress, { error: ({ input }) => `${show(input)} is no address such as "https://host/gatekeeper"` })
  .transform((url) => url.replace(/\/+$/, ''));

const schema = onlyFields({
  url: z
    .union([urlSchema.transform((url) => [url]), z.array(urlSchema).min(1, { error: 'has no address' })], {
      error: ({ input }) => `${show(input)} is no address such as "https://host/gatekeeper", nor a list of them`,
    })
    .transform((urls) => [...new Set(urls)]),
  // A secret, so it is never shown.
  token: z
    .string({
      error: ({ input }) =>
        input === undefined ? 'is missing: is the variable set that it comes from?' : 'is not text',
    })
    .regex(/^[\x21-\x7e]+$/, { error: 'is empty, or has characters that no header can carry' }),
  agent: z.instanceof(Agent, { error: ({ input }) => `${show(input)} is no agent of http or https` }).optional(),
});

/**
 * Keeps records in the store of another application that has this package's console: for applications that may not, or
 * can't, reach Hazelcast themselves. Its clock is the one of that store's members.
 *
 * Opening it never waits. Until the other application answers, every call fails with StoreUnavailableError, and `health().problem`
 * says why. An application does not start when the other one refuses it (RemoteRefusedError).
 *
 * @throws InvalidOptionsError listing every fault
 */
export function remote(options: RemoteOptions): StoreDefinition {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw new InvalidOptionsError('remote(options)', faultsOf(parsed.error));
  const { url: urls, token, agent } = parsed.data;
  return { kind: 'remote', open: (opening) => new RemoteStore({ urls, token, agent }, opening) };
}

/** Without user name and password, which would end up in logs. */
function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
