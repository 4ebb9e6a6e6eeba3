import {
  type NameChange,
  SHARD_PREFIX,
  type ShardRecord,
  changedNames,
  decodeShard,
  encodeShard,
  expiredIn,
  isShardBehind,
  leaseChanges,
  leasesIn,
  recordOf,
  restoreShard,
  rewriteShard,
} from '../decision/index.js';
import type { Context } from '../context/context.js';
import { Cell } from './cell.js';
import type { RecordChanged, RecordCodec, RecordListener } from './record-codec.js';
import { type SemaphoreChanged, reportChange } from './semaphore-records.js';

/** The cell of one shard of the names on demand. */
export type ShardCell = Cell<ShardRecord>;

const SHARD: RecordCodec<ShardRecord> = {
  kind: 'shard',
  keyPrefix: SHARD_PREFIX,
  decode: decodeShard,
  encode: encodeShard,
  isBehind: isShardBehind,
  restore: restoreShard,
  rewrite: (shard, view, nonce) => rewriteShard(shard, {}, view, nonce),
  leases: leasesIn,
  leaseChanges,
};

/**
 * Creates a cell that reports the changes of each name as events of the gatekeeper.
 *
 * @param nameChanged hears of each changed name
 */
export function shardCell(
  shard: string,
  context: Context,
  nameChanged: (name: string, change: SemaphoreChanged) => void,
): ShardCell {
  const cell = new Cell(shard, SHARD, context);
  cell.listen({
    ...reporting(SHARD_PREFIX + shard, context),
    changed: (change) => {
      context.recoveries.note(cell.key, change.record.grace, cell);
      for (const named of changedNames(change.former, change.record)) {
        const { name } = named;
        const each = changeOf(named, change);
        reportChange(name, each, context);
        if (isNewlyDefined(named, change)) reportDefinition(name, each, context);
        nameChanged(name, each);
      }
    },
  });
  return cell;
}

/** Whether an operator defined a name that was not in use. Then there is no former record that this changes. */
function isNewlyDefined({ before, after }: NameChange, { former }: RecordChanged<ShardRecord>): boolean {
  return former !== undefined && !before && after?.definition !== undefined;
}

function reportDefinition(semaphore: string, { record: { revision, change } }: SemaphoreChanged, { events }: Context) {
  events.next({ type: 'changed', semaphore, revision, ...(change && { change }) });
}

function changeOf(
  { name, before, after }: NameChange,
  { record, former, own }: RecordChanged<ShardRecord>,
): SemaphoreChanged {
  const was = before && recordOf(former!, name, before);
  const is = recordOf(record, name, after);
  // A vanished name gets the shard's revision. If no operator had defined it, that must not look like a change.
  const hasVanishedOnDemand = was !== undefined && !before?.definition && !after;
  return { record: hasVanishedOnDemand ? { ...is, revision: was.revision } : is, former: was, own };
}

function reporting(semaphore: string, { events }: Context): RecordListener<ShardRecord> {
  return {
    restored: ({ revision }) => events.next({ type: 'restored', semaphore, revision }),
    unreadable: (error) => events.next({ type: 'record-unreadable', semaphore, error }),
  };
}

/** Writes the shard without expired permits. A name vanishes with its last permit. */
export async function freeExpiredNames(cell: ShardCell, { events }: Context): Promise<void> {
  if (!cell.known || expiredIn(cell.known, cell.view()).size === 0) return;
  const ended = await cell.transact<ReturnType<typeof expiredIn>>((shard, view, nonce) => {
    const expired = shard ? expiredIn(shard, view) : new Map();
    if (!shard || expired.size === 0) return { result: new Map() };
    return { notify: 'none', write: rewriteShard(shard, {}, view, nonce), done: () => expired };
  });
  for (const [semaphore, permits] of ended) events.next({ type: 'expired', semaphore, permits });
}
