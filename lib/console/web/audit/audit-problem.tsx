import type { AuditAnswer } from '../api/answers.js';
import type { LiveQuery } from '../live/live-query.js';
import { Icon } from '../parts/icon.js';

/** Says in a story that the changes by hand are missing, if they can't be read. */
export function AuditProblem({ audit }: { readonly audit: LiveQuery<AuditAnswer> }) {
  if (!audit.error.value) return null;
  return (
    <p class="attention">
      <Icon name="warning" /> The changes by hand can’t be read now.
    </p>
  );
}
