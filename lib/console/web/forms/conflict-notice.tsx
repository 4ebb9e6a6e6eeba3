import type { DefinitionChange } from '../api/answers.js';
import { ApiError } from '../api/api-error.js';
import { DateTime } from '../parts/time.js';

/** Another user has changed the definition that this user edits. */
export interface Conflict {
  /** The other change; undefined if it is not known. */
  readonly change: DefinitionChange | undefined;
}

export function conflictIn(error: unknown): Conflict | undefined {
  return error instanceof ApiError && error.isConflict ? { change: error.problem.change } : undefined;
}

interface ConflictNoticeProps {
  readonly conflict: Conflict;
  /** Continues with the definition in force now; undefined if there is no input to keep. */
  readonly onReload: (() => void) | undefined;
}

/**
 * Shows the other change with its author, time and reason. The time does not tick, because screen readers would read a
 * changing alert again each second.
 */
export function ConflictNotice({ conflict: { change }, onReload }: ConflictNoticeProps) {
  return (
    <div class="panel warning conflict" role="alert">
      <p>
        {change ? (
          <>
            <strong>{change.by}</strong> changed this meanwhile ({change.kind}, <DateTime at={change.at} />)
            {change.reason ? `: “${change.reason}”.` : '.'}
          </>
        ) : (
          'This was changed meanwhile.'
        )}{' '}
        {onReload
          ? 'Your change was not written. Your input is kept.'
          : 'Nothing was changed: cancel, and check the present definition.'}
      </p>
      {onReload && (
        <button type="button" onClick={onReload}>
          Show what is in force now, keep my input
        </button>
      )}
    </div>
  );
}
