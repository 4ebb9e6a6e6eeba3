import type { StoreDefinition } from 'nestjs-gatekeeper';
import { z } from 'zod';

/** The stores that the sample can use: `npm run sample -- --store postgres`. */
export const STORES = ['embedded', 'hazelcast', 'postgres', 'redis'] as const;
export type StoreName = (typeof STORES)[number];
/** Those that are servers, which processes can share. */
export type ServerName = Exclude<StoreName, 'embedded'>;

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(8090),
  GROUP: z.string().default('production'),
  ACQUIRER: z.string().optional(),
  STORE: z.enum(STORES).default('embedded'),
  HAZELCAST_MEMBERS: z.string().default('127.0.0.1:5701'),
  HAZELCAST_CLUSTER: z.string().default('dev'),
  DATABASE_URL: z.string().default('postgres://postgres@127.0.0.1:5432/postgres'),
  REDIS_URL: z.string().default('redis://127.0.0.1:6379'),
  CONSOLE_TOKEN: z.string().min(16).default('sample-operator-token'),
  ARCHIVE_URL: z.url().default('http://127.0.0.1:8099'),
  LEASE: z.string().default('4s'),
  TASK_DURATION: z.coerce.number().int().min(0).default(300),
});

/** Settings that differ from node to node; the code is the same everywhere. */
export class Environment {
  readonly port: number;
  /** The node's zone: a definition's groupPattern says which zones may run a job. */
  readonly group: string;
  /** The node's name: a definition's acquirerPattern says which nodes may. */
  readonly acquirer: string;
  readonly store: StoreName;
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
  readonly #archiveUrl: string;

  /**
   * @param memory the store of `embedded`, if other nodes of this process share it
   * @throws ZodError naming every variable that can't be used
   */
  constructor(
    variables: NodeJS.ProcessEnv = process.env,
    readonly memory?: StoreDefinition,
  ) {
    const read = schema.parse(variables);
    this.port = read.PORT;
    this.group = read.GROUP;
    // Three processes on one host have one host name, so the port tells them apart.
    this.acquirer = read.ACQUIRER ?? `app-${read.PORT}`;
    this.store = read.STORE;
    this.databaseUrl = read.DATABASE_URL;
    this.redisUrl = read.REDIS_URL;
    this.hazelcastMembers = read.HAZELCAST_MEMBERS.split(',');
    this.hazelcastCluster = read.HAZELCAST_CLUSTER;
    this.consoleToken = read.CONSOLE_TOKEN;
    this.#archiveUrl = read.ARCHIVE_URL;
    this.lease = read.LEASE;
    this.taskDuration = read.TASK_DURATION;
  }

  /** The process that all nodes share: the archive, the queues and the ledger. */
  get archiveUrl(): string {
    return this.#archiveUrl;
  }
}
