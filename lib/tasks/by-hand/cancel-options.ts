import type { NodeIdentity } from '../../core/context/node-identity.js';
import { InvalidOptionsError, faultsOf, nameSchema, onlyFields, show } from '../../core/decision/index.js';
import { authorOf, reasonSchema } from '../../core/context/change-options.js';

/** Author and reason of a cancel. */
export interface CancelOptions {
  /** Name of the person or program. Default: the node's own acquirer name. */
  readonly by?: string;
  /** The reason, at most 1,000 characters on one line; the handler gets it, and every view of the task shows it. */
  readonly reason?: string;
}

const schema = onlyFields({ by: nameSchema.optional(), reason: reasonSchema.optional() });

/** @throws InvalidOptionsError */
export function parseCancelOptions(
  task: string,
  options: CancelOptions | undefined,
  node: Pick<NodeIdentity, 'acquirer'>,
): { readonly by: string; readonly reason?: string } {
  const { data, error } = schema.safeParse(options ?? {});
  if (error) throw new InvalidOptionsError(`a cancel of task ${show(task)}`, faultsOf(error));
  return authorOf(data, node);
}
