import { userInfo } from 'node:os';
import { quoted } from '../decision/index.js';
import type { DirectOptions } from './direct/direct-operator.js';
import { UsageFailure } from './exit-code.js';
import type { Operator } from './operator.js';
import { RestOperator } from './rest/rest-operator.js';
import type { HazelcastTarget, Target } from './target.js';

/** How a command talks to its target. */
export interface Manner extends Pick<DirectOptions, 'timeout' | 'logger' | 'clockTolerance' | 'group' | 'acquirer'> {
  /** The author of changes, if the target does not know it. */
  readonly by?: string | undefined;
}

const SIGNED_BY_TOKEN = 'over --url the token says who you are: leave --as out';
const NODE_SPEAKS =
  'over --url the node that answers explains for itself: leave --group and --acquirer out, or use --hazelcast';

/** @throws UsageFailure, or CommandFailure when the target can't be reached */
export async function openOperator(target: Target, { by, ...manner }: Manner): Promise<Operator> {
  const { group, acquirer, timeout } = manner;
  if (target.kind === 'rest') {
    if (by !== undefined) throw new UsageFailure(SIGNED_BY_TOKEN);
    if (group !== undefined || acquirer !== undefined) throw new UsageFailure(NODE_SPEAKS);
    return new RestOperator({ url: target.url, token: target.token, timeout });
  }
  return openDirect(target, { ...manner, by: by ?? userName() });
}

/** Loads its code only when needed: loading the Hazelcast client takes longer than a request. */
async function openDirect(
  { members, clusterName, further }: HazelcastTarget,
  manner: Omit<DirectOptions, 'store' | 'target'>,
): Promise<Operator> {
  const [{ hazelcast }, { DirectOperator }] = await Promise.all([
    import('../stores/hazelcast/index.js'),
    import('./direct/direct-operator.js'),
  ]);
  const store = hazelcast({ ...further, clusterName, members });
  const where = `cluster ${quoted(clusterName)} at ${members.join(', ')}`;
  return DirectOperator.open({ ...manner, store, target: where });
}

/** A process in a container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
