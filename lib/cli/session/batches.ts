import { EXIT, type ExitCode } from '../options/exit-code.js';
import type { Session } from './session.js';

/** Outcome of one call that changes many definitions. The lists contain names. */
export interface Batch {
  readonly done: readonly string[];
  readonly failed: readonly Failure[];
  /** Number of definitions that are left for the next call. */
  readonly remaining: number;
}

export interface Failure {
  readonly name: string;
  readonly error: string;
}

export interface BulkOutcome {
  readonly done: readonly string[];
  readonly failed: readonly Failure[];
  /**
   * Number of definitions that were not tried: the user stopped the command, or no change of a whole batch succeeded.
   */
  readonly remaining: number;
}

/** Changes per call. Each call first lists all records, so ten thousand changes in smaller batches would be slow. */
export const BATCH = 2500;
/** The console accepts no more than this per call. */
export const LARGEST_BATCH = 10_000;

/**
 * Changes many definitions in batches. Each call skips definitions that are already changed. So a user can stop the
 * command, and run it again to continue.
 *
 * @param call changes up to `limit` definitions
 */
export async function inBatches(
  session: Session,
  verb: string,
  call: (limit: number) => Promise<Batch>,
  size = BATCH,
): Promise<BulkOutcome> {
  const done: string[] = [];
  const failed = new Map<string, string>();
  const interruption = session.interruption();
  for (;;) {
    // The console retries earlier failures first. The limit grows by them, so that others still fit in.
    const batch = await call(Math.min(size + failed.size, LARGEST_BATCH)).catch((error: unknown) =>
      interrupted(session, verb, done, error),
    );
    done.push(...batch.done);
    for (const name of batch.done) failed.delete(name);
    for (const { name, error } of batch.failed) failed.set(name, error);
    const { remaining } = batch;
    session.progress.tell(`${verb} ${done.length} of ${done.length + failed.size + remaining}, ${failed.size} failed`);
    if (remaining > 0 && batch.done.length > 0 && !interruption.aborted) continue;
    return { done, failed: [...failed].map(([name, error]) => ({ name, error })), remaining };
  }
}

/** The field `undo` of the JSON of a change of many: the id that "gatekeeper undo" takes. Absent if nothing was changed. */
export function undoable(done: readonly string[], bulk: string | undefined): { readonly undo?: string } {
  return done.length > 0 && bulk !== undefined ? { undo: bulk } : {};
}

/** Prints a line for each definition to standard error. */
export function tellEach(session: Session, failures: readonly Failure[]): void {
  for (const { name, error } of failures) session.output.note(`gatekeeper: ${name}: ${error}`);
}

/** Prints the failures, and the remaining number, to standard error. @returns the exit code */
export function tellFailures(session: Session, { failed, remaining }: BulkOutcome): ExitCode {
  session.progress.clear();
  tellEach(session, failed);
  if (remaining > 0) {
    session.output.note(`gatekeeper: stopped with ${remaining} left: run the same command again to continue`);
  }
  return failed.length + remaining > 0 ? EXIT.failed : EXIT.done;
}

function interrupted(session: Session, verb: string, done: readonly string[], error: unknown): never {
  session.progress.clear();
  if (done.length > 0) {
    session.output.note(
      `gatekeeper: ${verb} ${done.length} before this error; run the same command again to continue:`,
    );
  }
  throw error;
}
