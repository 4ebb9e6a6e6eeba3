import { forEachLimit } from '../../core/async/for-each-limit.js';
import type { Context } from '../../core/context/context.js';
import type { SemaphoreListing } from '../../core/cell/semaphore-listing.js';
import type { StartEntry } from './entry-schemas.js';
import type { Membership } from '../../core/members/membership.js';
import type { NodeRegistry } from './node-registry.js';
import type { RunFacts } from './jobs/paired-runs.js';

/** Maximum number of records that are read for one reading of the history. */
const MOST_RECORDS = 20;

interface RunFactsParts {
  readonly context: Context;
  readonly registry: Pick<NodeRegistry, 'nodes'>;
  readonly membership: Pick<Membership, 'participants'>;
  readonly listing: Pick<SemaphoreListing, 'one'>;
}

/**
 * Reads which nodes live, and when the permits of the others end. Asks the store nothing without open starts.
 *
 * @param open starts without an end, oldest first
 * @throws StoreUnavailableError
 */
export async function readRunFacts(
  open: readonly StartEntry[],
  { context, registry, membership, listing }: RunFactsParts,
): Promise<RunFacts> {
  const living = open.length > 0 ? await livingInstances(context, registry, membership) : new Set<string>();
  const isLiving = ({ node }: StartEntry) => living.has(node.instance);
  const expiries = await expiriesOf(
    open.filter((start) => !isLiving(start)),
    listing,
  );
  return { isLiving, expiryOf: (start) => expiries.get(start) };
}

async function livingInstances(
  { node }: Context,
  registry: RunFactsParts['registry'],
  membership: RunFactsParts['membership'],
): Promise<ReadonlySet<string>> {
  const nodes = [node, ...(await registry.nodes()), ...membership.participants()];
  return new Set(nodes.map(({ instance }) => instance));
}

/** A record shows the permit of a crashed node until another node drops it. */
async function expiriesOf(
  crashed: readonly StartEntry[],
  listing: RunFactsParts['listing'],
): Promise<ReadonlyMap<StartEntry, number>> {
  const expiries = new Map<StartEntry, number>();
  const names = [...new Set(crashed.toReversed().map(({ semaphore }) => semaphore))];
  await forEachLimit(names.slice(0, MOST_RECORDS), async (name) => {
    const record = (await listing.one(name)).get(name);
    if (!record || record instanceof Error) return;
    for (const start of crashed) {
      const permit = start.semaphore === name && record.permits.find(({ token }) => token === start.token);
      if (permit) expiries.set(start, permit.expiresAt);
    }
  });
  return expiries;
}
