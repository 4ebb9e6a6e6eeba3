import { GatekeeperError, show } from '../../decision/index.js';
import type { SkipReason } from '../../context/events.js';

/** A sentence about the semaphore for each reason. */
const SENTENCES: Record<SkipReason, (semaphore: string) => string> = {
  'no-definition': (semaphore) => `the definition of semaphore ${semaphore} was removed, or is not loaded yet`,
  group: (semaphore) => `this node's group does not match the pattern of semaphore ${semaphore}`,
  acquirer: (semaphore) => `this node's acquirer does not match the pattern of semaphore ${semaphore}`,
  paused: (semaphore) => `an operator has paused semaphore ${semaphore}`,
  'no-permit': (semaphore) => `all permits of semaphore ${semaphore} are held`,
  recovering: (semaphore) => `the store lost data, or may have, and for now only former holders of ${semaphore} go on`,
  'permit-lost': (semaphore) => `the permit of semaphore ${semaphore} was over before the run began`,
  unavailable: (semaphore) => `the store could not be asked for semaphore ${semaphore}`,
  'no-quorum': (semaphore) => `the store has too few members to grant a permit of semaphore ${semaphore}`,
  'corrupt-record': (semaphore) => `the record of semaphore ${semaphore} can't be read`,
  'newer-record': (semaphore) => `a newer version wrote the record of semaphore ${semaphore}`,
  closing: (semaphore) => `this node shuts down and takes no permit of semaphore ${semaphore}`,
  'other-preferred': (semaphore) => `the next permit of semaphore ${semaphore} is kept for another node`,
  'not-leader': (semaphore) => `this node does not lead the scope of semaphore ${semaphore}`,
  'own-run': (semaphore) =>
    `a run of this job under semaphore ${semaphore} called it and would wait for its own end: call the work without the guard, or allow overlap`,
  overlap: (semaphore) => `the former run of this job under semaphore ${semaphore} still goes on in this process`,
};

/** Says in a sentence why a semaphore gives nothing now. */
export function skipSentence(reason: SkipReason, semaphore: string): string {
  return SENTENCES[reason](show(semaphore));
}

/**
 * A run was skipped, and its `onSkip` is `'throw'`. No part of the work was done. `reason` says why, for example `own-run`: a
 * run called its own job.
 */
export class RunSkippedError extends GatekeeperError {
  static override readonly className = 'RunSkippedError';
  readonly code = 'run-skipped';
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** Why the run was skipped. */
  readonly reason: SkipReason;

  constructor(
    { semaphore, job, reason }: { readonly semaphore: string; readonly job: string; readonly reason: SkipReason },
    options?: ErrorOptions,
  ) {
    const sentence = skipSentence(reason, semaphore);
    const next = reason === 'own-run' ? '' : ': run it again later';
    super(`${job} did not run: ${sentence} (${reason}). Nothing of it was done${next}`, options);
    this.semaphore = semaphore;
    this.job = job;
    this.reason = reason;
  }
}
