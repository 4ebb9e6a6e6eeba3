import type { AuditEntry } from '../context/answers.js';
import type { Context } from '../context/context.js';
import { type Preference, type SemaphoreRecord, type StoredPermit, prefer } from '../decision/index.js';
import { type ChangeOptions, authorOf, parseChangeOptions } from '../context/change-options.js';
import { UnknownSemaphoreError } from './permits.errors.js';
import type { SemaphoreCell, SemaphorePlan } from '../cell/semaphore-records.js';

/** One process, or all but one. */
export type NextHolder = Pick<Preference, 'instance' | 'isExcluded'>;

export function nextHolderOf({ instance, isExcluded }: Preference): NextHolder {
  return { instance, ...(isExcluded && { isExcluded }) };
}

/** A preference that someone asks for. */
export interface PreferenceRequest {
  /**
   * Whom the next grant is kept for. It may throw.
   *
   * @param holder of a permit that has not expired, if there is one
   * @param kept for whom the next grant is kept already
   * @returns undefined if nothing has to change
   */
  readonly whom: (
    record: SemaphoreRecord,
    holder: StoredPermit | undefined,
    kept: Preference | undefined,
  ) => NextHolder | undefined;
  /** ms after which any node may get the permit. */
  readonly duration: number;
}

/** How the audit log names a preference. */
type Kind = Pick<AuditEntry, 'action' | 'target'>;

/** The audit log, as far as a preference needs it. */
interface AuditLog {
  /** Writes an entry. Does not wait for the store. */
  note(entry: Omit<AuditEntry, 'at' | 'node'>): void;
  /** Makes a change that its caller notes afterwards. If its answer is lost, notes it with an unknown outcome. */
  evenIfUnknown<T>(entry: () => Omit<AuditEntry, 'at' | 'node'>, change: () => Promise<T>): Promise<T>;
}

/** Preferences of operators, on any semaphore, from any process that can reach the store. */
export class Preferences {
  /** @param visit runs work with the cell of a name */
  constructor(
    private readonly context: Context,
    private readonly audit: AuditLog,
    private readonly visit: <T>(name: string, work: (cell: SemaphoreCell) => Promise<T>) => Promise<T>,
  ) {}

  /**
   * Keeps the next grant of a semaphore for one process, or for all but one. The holder keeps its permit. The audit log
   * shows author, reason and holder.
   *
   * @returns false if nothing had to change
   * @throws UnknownSemaphoreError if there is no such semaphore, or any error of `request.whom`
   * @throws StoreUnavailableError (NoQuorumError) or UnknownOutcomeError if the store gives no clear answer
   */
  prefer(name: string, kind: Kind, request: PreferenceRequest, options?: ChangeOptions): Promise<boolean> {
    const { context, audit } = this;
    const author = authorOf(parseChangeOptions(name, options), context.node);
    const entry = (permit?: StoredPermit) => ({ semaphore: name, ...kind, ...author, ...(permit && { permit }) });
    const note = (permit: StoredPermit | undefined) => audit.note(entry(permit));
    const plan = preferring(context.random.id(), request, note);
    const preferred = () =>
      this.visit(name, (cell) =>
        cell.transact((record, view, nonce) => {
          if (!record?.definition) throw new UnknownSemaphoreError(name);
          return plan(record, view, nonce);
        }),
      );
    return audit.evenIfUnknown(entry, preferred);
  }
}

/**
 * Plans to keep the next grant. Changes nothing without a definition.
 *
 * @param id of the preference, new for each request
 * @param note called with the holder when the record has the preference
 */
export function preferring(
  id: string,
  { whom, duration }: PreferenceRequest,
  note: (holder: StoredPermit | undefined) => void = () => undefined,
): SemaphorePlan<boolean> {
  return (record, view, nonce) => {
    const holder = record?.permits.find((permit) => !view.isExpired(permit));
    const former = record?.preference;
    const kept = former && !view.isExpired(former) ? former : undefined;
    const next = record?.definition && whom(record, holder, kept);
    if (!next) return { result: false };
    const preference = { id, ...next, expiresAt: view.now + duration, duration };
    const done = () => {
      note(holder);
      return true;
    };
    return {
      write: prefer(record, preference, view, nonce),
      done,
      isDoneIn: (later) => later?.preference?.id === id,
    };
  };
}
