import type { AuditEntry, GatekeeperService, HistoryEntry } from '../../gatekeeper/index.js';

/** Entries read when only those of one semaphore are wanted: as many as the journals keep. */
const ALL = 10_000;

interface Wanted {
  /** Of this one alone. */
  readonly semaphore?: string;
  readonly limit: number;
}

/** The newest first. @throws StoreUnavailableError */
export async function readHistory(gatekeeper: GatekeeperService, wanted: Wanted): Promise<HistoryEntry[]> {
  return newest(await gatekeeper.history(countFor(wanted)), wanted);
}

/** The newest first. @throws StoreUnavailableError */
export async function readAudit(gatekeeper: GatekeeperService, wanted: Wanted): Promise<AuditEntry[]> {
  return newest(await gatekeeper.audit.read(countFor(wanted)), wanted);
}

function countFor({ semaphore, limit }: Wanted): number {
  return semaphore === undefined ? limit : ALL;
}

function newest<Entry extends { readonly semaphore: string }>(entries: Entry[], { semaphore, limit }: Wanted): Entry[] {
  const wanted = semaphore === undefined ? entries : entries.filter((entry) => entry.semaphore === semaphore);
  return wanted.slice(-limit).toReversed();
}
