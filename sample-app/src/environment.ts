import { z } from 'zod';

/** The stores that are servers. */
export const SERVERS = ['hazelcast', 'postgres', 'redis'] as const;
export type ServerName = (typeof SERVERS)[number];

/** The stores of a node. `remote`: the launcher keeps the store in its memory, and serves it. */
const STORES = ['memory', 'remote', ...SERVERS] as const;

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(8090),
  GROUP: z.string().default('production'),
  ACQUIRER: z.string().optional(),
  STORE: z.enum(STORES).default('memory'),
  STORE_URL: z.string().default(''),
  STORE_TOKEN: z.string().default(''),
  HAZELCAST_MEMBERS: z.string().default('127.0.0.1:5701'),
  HAZELCAST_CLUSTER: z.string().default('dev'),
  DATABASE_URL: z.string().default('postgres://postgres@127.0.0.1:5432/postgres'),
  REDIS_URL: z.string().default('redis://127.0.0.1:6379'),
  CONSOLE_TOKEN: z.string().min(16).default('sample-operator-token'),
  ARCHIVE_URL: z.url().optional(),
  LEASE: z.string().default('4s'),
  TASK_DURATION: z.coerce.number().int().min(0).default(300),
  QUIET: z.stringbool().default(false),
});

/** Settings that differ from node to node; the code is the same everywhere. */
export class Environment {
  readonly port: number;
  /** The node's zone: a definition's groupPattern says which zones may run a job. */
  readonly group: string;
  /** The node's name: a definition's acquirerPattern says which nodes may. */
  readonly acquirer: string;
  readonly store: (typeof STORES)[number];
  /** Of the store `remote`, which checks them. */
  readonly storeUrl: string;
  readonly storeToken: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly hazelcastMembers: string[];
  readonly hazelcastCluster: string;
  /** The token that an operator signs in with. In real life a secret, and one for each person or program. */
  readonly consoleToken: string;
  /** How long after the end of a node the others believe that it lives. */
  readonly lease: string;
  /** ms that each task of the examples takes. */
  readonly taskDuration: number;
  /** Whether runs have no lines until the launcher asks for them. */
  readonly isQuiet: boolean;
  readonly #archiveUrl: string | undefined;

  /** @throws ZodError naming every variable that can't be used */
  constructor(variables: NodeJS.ProcessEnv = process.env) {
    const read = schema.parse(variables);
    this.port = read.PORT;
    this.group = read.GROUP;
    // Three processes on one host have one host name, so the port tells them apart.
    this.acquirer = read.ACQUIRER ?? `app-${read.PORT}`;
    this.store = read.STORE;
    this.storeUrl = read.STORE_URL;
    this.storeToken = read.STORE_TOKEN;
    this.databaseUrl = read.DATABASE_URL;
    this.redisUrl = read.REDIS_URL;
    this.hazelcastMembers = read.HAZELCAST_MEMBERS.split(',');
    this.hazelcastCluster = read.HAZELCAST_CLUSTER;
    this.consoleToken = read.CONSOLE_TOKEN;
    this.#archiveUrl = read.ARCHIVE_URL;
    this.lease = read.LEASE;
    this.taskDuration = read.TASK_DURATION;
    this.isQuiet = read.QUIET;
  }

  /** The process that all nodes share: the archive, the queues and the ledger. @throws Error if none is named */
  get archiveUrl(): string {
    if (this.#archiveUrl === undefined) throw new Error('ARCHIVE_URL is missing: npm run sample shows the address');
    return this.#archiveUrl;
  }
}
