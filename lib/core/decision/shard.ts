import type { SemaphoreDefinition, StoredPermit } from './answers.js';
import { GatekeeperError } from './gatekeeper.error.js';
import { InvalidOptionsError } from './invalid-options.error.js';
import type { Expiring, LeaseChanges } from './permit.js';
import { RECORD_VERSION, type SemaphoreRecord, type View } from './record.js';
import { type NameEntry, ShardNames } from './shard-names.js';
import { hashOf } from './texts/hash-of.js';
import { show } from './texts/show.js';

/**
 * Names on demand: semaphores that no code defines, for example `tryAcquire('order-123', { duration })`. All of them
 * are stored in a fixed number of shard records. They have no records of their own, because a removed record looks like
 * one that the store lost. A shard is never removed, so a missing shard was lost.
 *
 *     name ─ hash ─▶ shard:17 ─ nameIn ─▶ record of the name ─ decide ─▶ next record ─ withName ─▶ shard:17
 *
 * | a name                          | its shard contains                                         |
 * | ------------------------------- | ---------------------------------------------------------- |
 * | in use on demand                | its permits; the name vanishes with the last of them       |
 * | defined or changed by operators | its definition, until an operator removes it               |
 * | defined by code                 | only a claim, which says that the name has its own record  |
 *
 * {@link nameIn} and {@link withName} are a lens: with them, every decision about a semaphore's record also works for a
 * name in a shard.
 */
export interface ShardRecord {
  readonly v: typeof SHARD_VERSION;
  readonly nonce: string;
  readonly seq: number;
  readonly at: number;
  /** Id of the root that this shard was made with: see `birth.ts`. Empty if only one process writes to the store. */
  readonly birth: string;
  /** Highest token of all names. So a name that is used again gets a higher token than before. */
  readonly lastToken: number;
  /** Highest revision of all names. So a name that is used again never gets a lower revision than before. */
  readonly revision: number;
  /** Present after lost data; applies to all names. */
  readonly grace?: Expiring;
  readonly names: ShardNames;
  /** Names that have their own record, each with the id (origin) with which that record was first made. */
  readonly claims: ReadonlyMap<string, string>;
}

export const SHARD_VERSION = 1;
/** Prefix of the keys of shards. */
export const SHARD_PREFIX = 'shard:';
/** Number of shards. A constant of the format: a node with another number would look for a name in the wrong shard. */
export const SHARDS = 512;

/**
 * The longest duration that a call may ask for if no definition allows more, in ms. A constant of the format: a lost
 * shard is restored with a grace of at least this length, even by a node that never saw its permits.
 */
export const LONGEST_ON_DEMAND = 15 * 60_000;

/**
 * Largest number of names in one shard, because its text is always read and written as a whole. With an even spread,
 * 256,000 names are possible in all shards.
 */
export const MOST_NAMES = 500;

/** A shard before its first record. */
export const EMPTY_SHARD: ShardRecord = {
  v: SHARD_VERSION,
  nonce: '',
  seq: 0,
  at: 0,
  birth: '',
  lastToken: 0,
  revision: 0,
  names: ShardNames.NONE,
  claims: new Map(),
};

/**
 * The shard of a name: its hash, modulo the number of shards.
 *
 * @param shards another number only in simulations
 */
export function shardOf(name: string, shards = SHARDS): string {
  return String(hashOf(name) % shards);
}

/**
 * Reads one name of a shard as a semaphore's record. A name that is not in use has no definition, unless a call asks
 * for a duration.
 *
 * @param asked duration that a call asks for, in ms; makes a definition with any group, any acquirer and one permit
 */
export function nameIn(shard: ShardRecord, name: string, asked?: number): SemaphoreRecord {
  return recordOf(shard, name, shard.names.get(name), asked);
}

/** As {@link nameIn}, with the entry that the shard has of the name. */
export function recordOf(
  shard: ShardRecord,
  name: string,
  entry: NameEntry | undefined,
  asked?: number,
): SemaphoreRecord {
  const { nonce, seq, at, lastToken, grace } = shard;
  const definition = entry?.definition ?? impliedDefinition(name, entry, asked);
  const revision = entry?.revision ?? (definition ? Math.max(1, shard.revision) : shard.revision);
  const permits = entry?.permits ?? NO_PERMITS;
  const isOnDemand = definition && !entry?.definition ? true : undefined;
  const record = { v: RECORD_VERSION, nonce, seq, at, revision, lastToken, definition, permits, isOnDemand } as const;
  // Most names on demand have nothing else, and each call makes several such records.
  if (!entry?.definition && !grace) return record;
  return {
    ...record,
    ...(entry?.source && { source: entry.source }),
    ...(entry?.fingerprint !== undefined && { fingerprint: entry.fingerprint }),
    ...(entry?.change && { change: entry.change }),
    ...(entry?.pause && { pause: entry.pause }),
    ...(grace && { grace }),
  };
}

const NO_PERMITS: readonly StoredPermit[] = [];

/** The longest duration counts: a use that asks for a shorter one must not shorten the permit of another use. */
function impliedDefinition(name: string, entry: NameEntry | undefined, asked = 0): SemaphoreDefinition | undefined {
  let duration = asked;
  for (const permit of entry?.permits ?? NO_PERMITS) {
    duration = Math.max(duration, permit.asked?.under ?? permit.duration);
  }
  return duration === 0 ? undefined : definitionOnDemand(name, duration);
}

/** The definition that a call's duration makes: any group, any acquirer, one permit. @param duration ms */
export function definitionOnDemand(name: string, duration: number): SemaphoreDefinition {
  return { name, groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration };
}

/**
 * Writes a changed record of one name back into its shard. A name without a permit and without an operator's definition
 * is dropped. So are expired permits of all names: no other name is looked at while none of them can be over.
 *
 * @param before the result of {@link nameIn}
 * @param next the changed record
 */
export function withName(
  shard: ShardRecord,
  name: string,
  before: SemaphoreRecord,
  next: SemaphoreRecord,
  view: View,
): ShardRecord {
  const { permits, revision, lastToken } = next;
  // A permit that was stamped by a clock that is ahead may be over before its end: then the sweep drops it.
  const others = shard.names.firstEnd > view.now ? shard.names : living(shard.names, view);
  const isImplied = !shard.names.get(name)?.definition && next.definition === before.definition;
  const entry = isImplied ? { revision, permits } : entryOf(next);
  const names = permits.length > 0 || entry.definition ? others.with(name, entry) : others.without(name);
  const { claims, grace } = shard;
  const counters = { lastToken: Math.max(shard.lastToken, lastToken), revision: Math.max(shard.revision, revision) };
  return nextShard(shard, { names, claims, grace, ...counters }, view, next.nonce);
}

function entryOf({ revision, permits, definition, source, fingerprint, change, pause }: SemaphoreRecord): NameEntry {
  if (!definition) return { revision, permits };
  return {
    revision,
    permits,
    definition,
    ...(source && { source }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(change && { change }),
    ...(pause && { pause }),
  };
}

type ShardChanges = Partial<Pick<ShardRecord, 'names' | 'claims' | 'grace'>>;

/** The next shard, without expired permits, an expired grace, and names that are left empty. */
export function rewriteShard(shard: ShardRecord, changes: ShardChanges, view: View, nonce: string): ShardRecord {
  const changed = { ...shard, ...changes };
  return nextShard(shard, { ...changed, names: living(changed.names, view) }, view, nonce);
}

type ShardContent = Pick<ShardRecord, 'lastToken' | 'revision' | 'names' | 'claims'> & { grace?: Expiring | undefined };

/** @param content.names without expired permits */
function nextShard(
  { v, seq, birth }: ShardRecord,
  { lastToken, revision, names, claims, grace }: ShardContent,
  view: View,
  nonce: string,
): ShardRecord {
  const next = { v, nonce, seq: seq + 1, at: view.now, birth, lastToken, revision, names, claims };
  return grace && !view.isExpired(grace) ? { ...next, grace } : next;
}

/** The names without expired permits. */
function living(names: ShardNames, view: View): ShardNames {
  const isOver = (permit: StoredPermit) => view.isExpired(permit);
  let alive = names;
  for (const [name, entry] of names) {
    const { permits, definition } = entry;
    if (!permits.some(isOver) && (permits.length > 0 || definition)) continue;
    const left = permits.filter((permit) => !isOver(permit));
    alive = left.length > 0 || definition ? alive.with(name, { ...entry, permits: left }) : alive.without(name);
  }
  return alive;
}

/** Permits of a shard that expired without a release, by name. */
export function expiredIn(shard: ShardRecord, view: View): Map<string, readonly StoredPermit[]> {
  const expired = new Map<string, readonly StoredPermit[]>();
  for (const [name, { permits }] of shard.names) {
    const ended = permits.filter((permit) => view.isExpired(permit));
    if (ended.length > 0) expired.set(name, ended);
  }
  return expired;
}

/** All permits of a shard, and its grace. */
export function leasesIn({ names, grace }: ShardRecord): readonly Expiring[] {
  const leases: Expiring[] = [];
  for (const { permits } of names.values()) leases.push(...permits);
  if (grace) leases.push(grace);
  return leases;
}

/** Leases that may be in only one of two versions of a shard. All others are the same in both. */
export function leaseChanges(former: ShardRecord, next: ShardRecord): LeaseChanges {
  const changes = { gone: [] as Expiring[], begun: [] as Expiring[] };
  next.names.eachChange(former.names, (_name, before, after) => {
    changes.gone.push(...(before?.permits ?? NO_PERMITS));
    changes.begun.push(...(after?.permits ?? NO_PERMITS));
  });
  if (former.grace) changes.gone.push(former.grace);
  if (next.grace) changes.begun.push(next.grace);
  return changes;
}

/**
 * Checks the duration that a call asks for.
 *
 * @throws InvalidOptionsError for a duration that is longer than a shard's grace
 */
export function expectShort(shard: ShardRecord, name: string, asked: number | undefined): void {
  if (asked === undefined || asked <= LONGEST_ON_DEMAND) return;
  const longest = Math.max(LONGEST_ON_DEMAND, shard.names.get(name)?.definition?.duration ?? 0);
  if (asked <= longest) return;
  throw new InvalidOptionsError(`options for semaphore ${show(name)}`, [
    `duration: ${asked} ms is longer than the ${longest} ms that a semaphore without a definition may have: define the semaphore, or ask for ${longest} ms or less`,
  ]);
}

/**
 * Checks that a shard has room for a new name.
 *
 * @throws TooManyNamesError
 */
export function expectRoom(shard: ShardRecord, name: string, { permits }: SemaphoreRecord, view: View): void {
  if (permits.length === 0 || shard.names.size < MOST_NAMES || shard.names.has(name)) return;
  if (living(shard.names, view).size >= MOST_NAMES) throw new TooManyNamesError(name);
}

/** The shard of a name is full, because very many names without a definition are in use at the same time. */
export class TooManyNamesError extends GatekeeperError {
  static override readonly className = 'TooManyNamesError';
  readonly code = 'too-many-names';

  constructor(
    /** Name of the requested semaphore. */
    readonly semaphore: string,
  ) {
    super(
      `semaphore ${show(semaphore)}: ${MOST_NAMES} other names without a definition that share its record are in use. Release their permits, ask for shorter durations, or define the semaphore in code`,
    );
  }
}

/**
 * The duration in ms that a holder asks for when it refreshes a permit of a name on demand. The holder must ask,
 * because a restored shard may lack the name and then has no duration for it.
 */
export function askedAgain({ asked, duration }: StoredPermit): number {
  return Math.min(asked?.duration ?? duration, LONGEST_ON_DEMAND);
}

/** A name in two versions of its shard. */
export interface NameChange {
  readonly name: string;
  readonly before: NameEntry | undefined;
  readonly after: NameEntry | undefined;
}

/** Names whose permits changed, or whose revision did: each change of a definition raises it. */
export function changedNames(former: ShardRecord | undefined, { names }: ShardRecord): NameChange[] {
  const changed: NameChange[] = [];
  names.eachChange(former?.names ?? ShardNames.NONE, (name, before, after) => {
    if (!isSame(before, after)) changed.push({ name, before, after });
  });
  return changed;
}

function isSame(one: NameEntry | undefined, other: NameEntry | undefined): boolean {
  if (one === other || !one || !other) return one === other;
  const isSamePermit = ({ id, expiresAt }: StoredPermit, index: number) =>
    other.permits[index]?.id === id && other.permits[index]?.expiresAt === expiresAt;
  return (
    one.revision === other.revision && one.permits.length === other.permits.length && one.permits.every(isSamePermit)
  );
}
