import { userInfo } from 'node:os';
import { quoted } from '../../core/decision/index.js';
import type { DirectOptions } from '../direct/direct-operator.js';
import { UsageFailure } from '../options/exit-code.js';
import type { Operator } from '../operator/operator.js';
import { RestOperator } from '../rest/rest-operator.js';
import type { HazelcastTarget, Target } from '../options/target.js';

/** Settings of the connection to a target. */
export interface Manner extends Pick<DirectOptions, 'timeout' | 'logger' | 'clockTolerance' | 'group' | 'acquirer'> {
  /** The author of changes. With --url the token names the author. */
  readonly by?: string | undefined;
}

const SIGNED_BY_TOKEN = 'with --url the token names the author of changes: leave --as out';
const NODE_SPEAKS =
  'with --url the answering node explains its own decision: leave --group and --acquirer out, or use --hazelcast';

/** Connects to a target. @throws UsageFailure, or CommandFailure if the cluster can't be reached */
export async function openOperator(target: Target, { by, ...manner }: Manner): Promise<Operator> {
  const { group, acquirer, timeout } = manner;
  if (target.kind === 'rest') {
    if (by !== undefined) throw new UsageFailure(SIGNED_BY_TOKEN);
    if (group !== undefined || acquirer !== undefined) throw new UsageFailure(NODE_SPEAKS);
    return new RestOperator({ url: target.url, token: target.token, timeout });
  }
  return openDirect(target, { ...manner, by: by ?? userName() });
}

/** Imports its code only when needed, because to load the Hazelcast client takes longer than a request. */
async function openDirect(
  { members, clusterName, further }: HazelcastTarget,
  manner: Omit<DirectOptions, 'store' | 'target'>,
): Promise<Operator> {
  const [{ hazelcast }, { DirectOperator }] = await Promise.all([
    import('../../stores/hazelcast/index.js'),
    import('../direct/direct-operator.js'),
  ]);
  const store = hazelcast({ ...further, clusterName, members });
  const where = `cluster ${quoted(clusterName)} at ${members.join(', ')}`;
  return DirectOperator.open({ ...manner, store, target: where });
}

/** In a container, the user of the process may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
