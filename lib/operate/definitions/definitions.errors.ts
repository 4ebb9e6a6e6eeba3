import { show } from '../../core/decision/texts/show.js';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import type { DefinitionChange } from '../../core/decision/answers.js';

/** The pattern of a bulk change matches no semaphore. */
export class NothingMatchesError extends GatekeeperError {
  static override readonly className = 'NothingMatchesError';
  readonly code = 'nothing-matches';

  constructor(
    /** The pattern that matches no name. */
    readonly pattern: string,
  ) {
    super(`no semaphore's whole name matches ${show(pattern)}: list the semaphores, and correct the pattern`);
  }
}

/** Another change of the definition came first. The caller must read the definition again. */
export class EditConflictError extends GatekeeperError {
  static override readonly className = 'EditConflictError';
  readonly code = 'edit-conflict';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    /** The revision that the caller expected. */
    readonly expectedRevision: number,
    /** The present revision. */
    readonly revision: number,
    /** The change that came first, if a person or a program made it. */
    readonly change?: DefinitionChange,
    advice = 'read it again and repeat the change',
  ) {
    super(
      `semaphore ${show(semaphore)} is at revision ${revision}${authorOf(change)}, not ${expectedRevision}: ${advice}`,
    );
  }
}

function authorOf(change: DefinitionChange | undefined): string {
  return change ? ` (${change.kind} by ${show(change.by)} at ${new Date(change.at).toISOString()})` : '';
}

/** A semaphore of that name is defined already. */
export class AlreadyDefinedError extends GatekeeperError {
  static override readonly className = 'AlreadyDefinedError';
  readonly code = 'already-defined';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    /** Revision of the present definition. */
    readonly revision: number,
  ) {
    super(`semaphore ${show(semaphore)} is defined already (revision ${revision}): edit it, or take another name`);
  }
}

/** A `reset` of a semaphore that the code of this node does not define. */
export class NotInCodeError extends GatekeeperError {
  static override readonly className = 'NotInCodeError';
  readonly code = 'not-in-code';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
  ) {
    super(
      `the code of this node defines no semaphore ${show(semaphore)}: ask a node whose code does, or edit or remove it`,
    );
  }
}

/**
 * A removal was refused, because the code of a living node defines the semaphore and its job would never run again: pause it, or
 * remove it from the code first.
 */
export class DefinedInCodeError extends GatekeeperError {
  static override readonly className = 'DefinedInCodeError';
  readonly code = 'defined-in-code';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    /** Names of the living nodes whose code defines it. */
    readonly nodes: readonly string[],
  ) {
    const subject =
      nodes.length === 1 ? `node ${show(nodes[0])}` : `${nodes.length} living nodes, ${show(nodes[0])} first,`;
    super(
      `semaphore ${show(semaphore)} can't be removed, because the code of ${subject} defines it and nothing would run under it ` +
        'again: pause it, or remove it from the code, deploy that, and remove it then; "reset" takes over the definition of the code',
    );
  }
}

/** The audit log has no such entry. */
export class UnknownEntryError extends GatekeeperError {
  static override readonly className = 'UnknownEntryError';
  readonly code = 'unknown-entry';

  constructor(
    /** Id of an entry, or of a change of many. */
    readonly entry: string,
  ) {
    super(
      `the audit log has no entry ${show(entry)}: take an id that it shows; it drops its oldest entries, and a new one is there after a moment`,
    );
  }
}

/** A change of this kind can't be undone. */
export class UndoRefusedError extends GatekeeperError {
  static override readonly className = 'UndoRefusedError';
  readonly code = 'undo-refused';

  constructor(
    /** Id of the entry. */
    readonly entry: string,
    why: string,
  ) {
    super(`entry ${show(entry)} can't be undone: ${why}`);
  }
}
