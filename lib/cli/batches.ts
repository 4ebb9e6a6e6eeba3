import { EXIT, type ExitCode } from './exit-code.js';
import type { Session } from './session.js';

/** The outcome of one call of a change of many, by name. */
export interface Batch {
  readonly done: readonly string[];
  readonly failed: readonly Failure[];
  /** How many are left for the next call. */
  readonly remaining: number;
}

export interface Failure {
  readonly name: string;
  readonly error: string;
}

export interface BulkOutcome {
  readonly done: readonly string[];
  readonly failed: readonly Failure[];
  /** Names not tried: the person stopped the command, or nothing of a whole batch could be changed. */
  readonly remaining: number;
}

/** Each call lists all records before it changes some: fewer would make ten thousand slow. */
export const BATCH = 2500;
/** More than this the console takes in no call. */
export const LARGEST_BATCH = 10_000;

/**
 * Changes many, a batch at a time. Each call leaves out what is changed already: a command that was stopped in the middle
 * goes on when it is given again.
 *
 * @param call changes at most so many
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
    // Earlier failures come first again and are retried, so ask for more: they must not take the place of the others.
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

/** Tells on standard error what was not done. @returns what the command ends with */
export function tellFailures(session: Session, { failed, remaining }: BulkOutcome): ExitCode {
  session.progress.clear();
  for (const { name, error } of failed) session.output.note(`gatekeeper: ${name}: ${error}`);
  if (remaining > 0) {
    session.output.note(`gatekeeper: stopped with ${remaining} left: give the same command again to go on`);
  }
  return failed.length + remaining > 0 ? EXIT.failed : EXIT.done;
}

function interrupted(session: Session, verb: string, done: readonly string[], error: unknown): never {
  session.progress.clear();
  if (done.length > 0) {
    session.output.note(`gatekeeper: ${verb} ${done.length} before this; give the same command again to go on:`);
  }
  throw error;
}
