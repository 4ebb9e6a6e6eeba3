import { parseArgs } from 'node:util';
import { SERVERS } from '../environment.js';

const STORES = ['embedded', ...SERVERS] as const;
/** A server, or `embedded`: one in the memory of the launcher. */
export type StoreName = (typeof STORES)[number];

/** The store that the command line asks for. */
export interface Choice {
  readonly store: StoreName;
  /** Address of a server that already runs. */
  readonly url?: string | undefined;
}

const CHOICES = `use ${STORES.slice(0, -1).join(', ')} or ${STORES.at(-1)}`;
const EXAMPLE =
  'for example: npm run sample -- --store postgres --url postgres://user:password@localhost:5432/database';

/** @throws with the choices, if an argument can't be used */
export function readChoice(args = process.argv.slice(2), env = process.env): Choice {
  const { store = 'embedded', url } = parsed(args);
  // npm keeps such options for itself if they don't follow "--".
  const kept = ['store', 'url'].find((name) => env[`npm_config_${name}`] !== undefined);
  if (kept && args.length === 0) throw new Error(`npm took --${kept} for itself: write "--" before it, ${EXAMPLE}`);
  if (!isStore(store)) throw new Error(`--store ${store} is no store of the sample: ${CHOICES}`);
  if (url !== undefined && store !== 'postgres' && store !== 'redis') throw new Error(urlWithout(store));
  return { store, url };
}

function parsed(args: string[]) {
  try {
    const options = { store: { type: 'string' }, url: { type: 'string' } } as const;
    return parseArgs({ args, options }).values;
  } catch (error) {
    const [reason] = (error as Error).message.split('. ');
    throw new Error(`${reason}. The options are --store and --url, after "--"; for --store ${CHOICES}; ${EXAMPLE}`, {
      cause: error,
    });
  }
}

function isStore(name: string): name is StoreName {
  return (STORES as readonly string[]).includes(name);
}

function urlWithout(store: StoreName): string {
  if (store === 'hazelcast') return '--url is for postgres and redis: name members in HAZELCAST_MEMBERS=host:5701';
  return `--url needs --store postgres or --store redis, ${EXAMPLE}`;
}
