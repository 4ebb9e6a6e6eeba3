import type { AuditAnswer } from '../api/answers.js';
import type { LiveQuery } from '../live/live-query.js';
import { Unread } from '../parts/unread.js';

/** Says in a story that the changes by hand are missing, if they can't be read. */
export function AuditProblem({ audit }: { readonly audit: LiveQuery<AuditAnswer> }) {
  return <Unread query={audit}>The changes by hand can’t be read now.</Unread>;
}
