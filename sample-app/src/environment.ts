import { z } from 'zod';

/** Lets the apps use the runner's embedded store. In real life a secret. */
export const SAMPLE_STORE_TOKEN = 'sample-store-token';

/** The stores that the sample can use: `npm run sample -- --store postgres`. */
export const STORES = ['hazelcast', 'postgres', 'redis', 'embedded'] as const;
export type StoreName = (typeof STORES)[number];

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(8090),
  GROUP: z.string().default('production'),
  ACQUIRER: z.string().optional(),
  STORE: z.enum(STORES).default('hazelcast'),
  HAZELCAST_MEMBERS: z.string().default('127.0.0.1:5701'),
  HAZELCAST_CLUSTER: z.string().default('dev'),
  DATABASE_URL: z.string().default('postgres://postgres@127.0.0.1:5432/postgres'),
  REDIS_URL: z.string().default('redis://127.0.0.1:6379'),
  STORE_URL: z.string().default('http://127.0.0.1:8089/gatekeeper'),
  STORE_TOKEN: z.string().min(16).default(SAMPLE_STORE_TOKEN),
  CONSOLE_TOKEN: z.string().min(16).default('sample-operator-token'),
  ARCHIVE_URL: z.url().default('http://127.0.0.1:8099'),
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
  /** Of an application that serves its store (see remote()): the runner's embedded one. */
  readonly storeUrl: string;
  readonly storeToken: string;
  readonly hazelcastMembers: string[];
  readonly hazelcastCluster: string;
  /** The token that an operator signs in with. In real life a secret, and one for each person or program. */
  readonly consoleToken: string;
  readonly archiveUrl: string;
  /** ms that each task of the examples takes. */
  readonly taskDuration: number;

  /** @throws ZodError naming every variable that can't be used */
  constructor(variables: NodeJS.ProcessEnv = process.env) {
    const read = schema.parse(variables);
    this.port = read.PORT;
    this.group = read.GROUP;
    // Three processes on one host have one host name, so the port tells them apart.
    this.acquirer = read.ACQUIRER ?? `app-${read.PORT}`;
    this.store = read.STORE;
    this.databaseUrl = read.DATABASE_URL;
    this.redisUrl = read.REDIS_URL;
    this.storeUrl = read.STORE_URL;
    this.storeToken = read.STORE_TOKEN;
    this.hazelcastMembers = read.HAZELCAST_MEMBERS.split(',');
    this.hazelcastCluster = read.HAZELCAST_CLUSTER;
    this.consoleToken = read.CONSOLE_TOKEN;
    this.archiveUrl = read.ARCHIVE_URL;
    this.taskDuration = read.TASK_DURATION;
  }

  /** Whether the store keeps distributed tasks. */
  get keepsTasks(): boolean {
    return this.store !== 'embedded';
  }
}
