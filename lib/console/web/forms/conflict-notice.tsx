import type { DefinitionChange } from '../api/answers.js';
import { ApiError } from '../api/api-error.js';
import { DateTime } from '../parts/time.js';

/** Another user has changed the definition that is being edited. */
export interface Conflict {
  /** Author of the other change, as far as known. */
  readonly change: DefinitionChange | undefined;
}

export function conflictIn(error: unknown): Conflict | undefined {
  return error instanceof ApiError && error.isConflict ? { change: error.problem.change } : undefined;
}

interface ConflictNoticeProps {
  readonly conflict: Conflict;
  /** Continues from the definition in force now; absent if there is no input to keep. */
  readonly onReload: (() => void) | undefined;
}

/**
 * Shows who changed the definition first, when and why. The operator's own input is kept. The time does not tick, because
 * screen readers would read a changing alert again each second.
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
