import type { GatekeeperOptions } from 'nestjs-gatekeeper';

/** What a test tells the app that it starts. */
export interface AppSettings {
  /** Its acquirer's name. */
  readonly name: string;
  readonly clusterName: string;
  /** `host:port` of each. */
  readonly members: readonly string[];
  readonly jobs: readonly JobName[];
  /** URL of the guarded resource that the report is written to. */
  readonly resource?: string;
  readonly options?: Partial<Omit<GatekeeperOptions, 'store'>>;
}

export type JobName = 'both-orders' | 'short' | 'long' | 'errand' | 'report';

/** Name of the variable that carries the settings, as JSON. */
export const SETTINGS = 'TEST_APP';

export function readSettings(env = process.env): AppSettings {
  const text = env[SETTINGS];
  if (text === undefined) throw new Error(`${SETTINGS} is missing: test/cluster/node-process.ts starts this app`);
  return JSON.parse(text) as AppSettings;
}
