import type { DenialReason } from '../semaphores/denial.js';
import { show } from '../semaphores/duration.js';
import { GatekeeperError } from '../semaphores/gatekeeper.error.js';
import { messageOf } from '../semaphores/message-of.js';
import type { DefinitionChange } from '../semaphores/record.js';

/** Why a permit is no longer held although its user did not give it back. */
export type LossReason = 'expired' | 'revoked' | 'max-run-time' | 'released' | 'closing' | 'unguarded';

const LOSS: Record<LossReason, string> = {
  expired: 'its lease ended before it was refreshed (store out of reach, process frozen or event loop blocked?)',
  revoked: 'it was revoked, or lost with the data of the store',
  'max-run-time': 'the run took longer than its maxRunTime',
  released: 'it was released',
  closing: 'this node shuts down and the run did not end in time',
  unguarded: "the run was let through by onUnavailable: 'run' and never had one",
};

/** The permit is no longer held: stop the work that it guarded. */
export class PermitLostError extends GatekeeperError {
  readonly code = 'permit-lost';

  constructor(
    readonly semaphore: string,
    readonly reason: LossReason,
  ) {
    super(`the permit of semaphore ${show(semaphore)} is not held: ${LOSS[reason]}. Stop the work that it guards`);
  }
}

/** `acquire` waited as long as it was told to. */
export class AcquireTimeoutError extends GatekeeperError {
  readonly code = 'acquire-timeout';

  constructor(
    readonly semaphore: string,
    /** ms; undefined: it would have waited for ever, but this node shuts down. */
    readonly timeout: number | undefined,
    readonly reason: DenialReason,
    options?: ErrorOptions,
  ) {
    const within = timeout === undefined ? '' : ` within ${timeout} ms`;
    super(`no permit of semaphore ${show(semaphore)}${within}: last denied with ${reason}`, options);
  }
}

/** The first thing that a node still lacks before it can decide; `closing`: it shuts down. */
export type Lack = 'store' | 'clock' | 'definitions' | 'closing';

const LACK: Record<Lack, string> = {
  store: "the store is not connected: see that its members run and that the store's options fit them",
  clock: "the members' clocks could not be read: see that all members answer",
  definitions:
    'definitions of this code are not in the store yet: they are put there `definitionsDelay` after the start, and only when the archive can be read',
  closing: 'this node shuts down',
};

/** `ready()` waited as long as it was told to, and the node still can't decide. */
export class NotReadyError extends GatekeeperError {
  readonly code = 'not-ready';

  constructor(
    readonly lack: Lack,
    /** ms */
    readonly timeout: number,
    options?: ErrorOptions,
  ) {
    const { cause } = options ?? {};
    const why = cause === undefined ? '' : ` (${messageOf(cause)})`;
    super(`not ready within ${timeout} ms: ${LACK[lack]}${why}`, options);
  }
}

/** Nobody defined a semaphore of that name. */
export class UnknownSemaphoreError extends GatekeeperError {
  readonly code = 'unknown-semaphore';

  constructor(readonly semaphore: string) {
    super(
      `semaphore ${show(semaphore)} has no definition: define it, here or in GatekeeperModule's definitions, or give a duration with the call that takes a permit`,
    );
  }
}

/** A bulk change names semaphores by a pattern that matches none of them. */
export class NothingMatchesError extends GatekeeperError {
  readonly code = 'nothing-matches';

  constructor(readonly pattern: string) {
    super(`no semaphore's whole name matches ${show(pattern)}: list the semaphores, and correct the pattern`);
  }
}

/** Two people changed one definition; the later one has to look again. */
export class EditConflictError extends GatekeeperError {
  readonly code = 'edit-conflict';

  constructor(
    readonly semaphore: string,
    readonly expectedRevision: number,
    readonly revision: number,
    /** Who was faster, when a person was. */
    readonly change?: DefinitionChange,
  ) {
    super(
      `semaphore ${show(semaphore)} is at revision ${revision}${authorOf(change)}, not ${expectedRevision}: ` +
        'read it again and repeat the change',
    );
  }
}

function authorOf(change: DefinitionChange | undefined): string {
  return change ? ` (${change.kind} by ${show(change.by)} at ${new Date(change.at).toISOString()})` : '';
}

/** A semaphore of that name is there. */
export class AlreadyDefinedError extends GatekeeperError {
  readonly code = 'already-defined';

  constructor(
    readonly semaphore: string,
    readonly revision: number,
  ) {
    super(`semaphore ${show(semaphore)} is defined already (revision ${revision}): edit it, or take another name`);
  }
}

/** There is nothing to reset to. */
export class NotInCodeError extends GatekeeperError {
  readonly code = 'not-in-code';

  constructor(readonly semaphore: string) {
    super(
      `the code of this node defines no semaphore ${show(semaphore)}: ask a node whose code does, or edit or remove it`,
    );
  }
}

/** `currentPermit()` was called where no guarded run goes on. */
export class NoCurrentPermitError extends GatekeeperError {
  readonly code = 'no-current-permit';

  constructor() {
    super(
      'currentPermit() was called outside a run of @ClusterSingleton or gatekeeper.run(): pass the permit on instead',
    );
  }
}
