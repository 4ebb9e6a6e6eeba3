import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { Primary } from './clients/redis-client.js';
import { LOOK_AT_SERVER, runScript } from './scripts.js';

/** One look at a server. */
export interface ServerFacts {
  /** ms since the epoch, by the server's clock. */
  readonly time: number;
  /** Identifies the process of the server: another one after a restart, and after a failover. */
  readonly runId: string;
  /** Replication id of its data: a new one also when it was a replica for a while, and is the primary again. */
  readonly origin: string;
  readonly version: string;
  readonly isReplica: boolean;
  /** Advice, if the server may drop records. */
  readonly eviction?: string;
}

const OLDEST = [6, 2] as const;

export async function lookAt(server: Primary): Promise<ServerFacts> {
  const answer = (await runScript(server, LOOK_AT_SERVER)) as string[];
  const [seconds, micros, runId, version, role, maxMemory, policy, origin] = answer;
  const eviction = evictionFault(Number(maxMemory), String(policy));
  return {
    time: Math.floor(Number(seconds) * 1000 + Number(micros) / 1000),
    runId: String(runId),
    origin: String(origin),
    version: String(version),
    isReplica: String(role) === 'slave',
    ...(eviction !== undefined && { eviction }),
  };
}

/** @throws StoreUnavailableError if the store can't work on this server */
export function assertUsable({ isReplica, version }: ServerFacts): void {
  if (isReplica) throw new StoreUnavailableError('the server is a replica: connect to the primary');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new StoreUnavailableError(`the server is Redis ${version}: ${OLDEST.join('.')} or newer is needed`);
}

/** Records never expire, so only policies that evict any key can drop them, and only below a limit. */
function evictionFault(maxMemory: number, policy: string): string | undefined {
  if (!policy.startsWith('allkeys-') || maxMemory === 0) return undefined;
  return `the server may drop records when its memory is full (maxmemory-policy ${policy}): set maxmemory-policy to noeviction`;
}
