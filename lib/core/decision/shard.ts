import type { SemaphoreDefinition } from './definition.js';
import { GatekeeperError } from './gatekeeper.error.js';
import { InvalidOptionsError } from './invalid-options.error.js';
import type { Expiring, StoredPermit } from './permit.js';
import {
  type DefinitionChange,
  type DefinitionSource,
  type Pause,
  RECORD_VERSION,
  type SemaphoreRecord,
  type View,
} from './record.js';
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
  readonly names: ReadonlyMap<string, NameEntry>;
  /** Names that have their own record, each with the id (origin) with which that record was first made. */
  readonly claims: ReadonlyMap<string, string>;
}

/** One name in its shard. */
export interface NameEntry {
  readonly revision: number;
  readonly permits: readonly StoredPermit[];
  /** An operator's definition. If absent, the permits' own durations apply. */
  readonly definition?: SemaphoreDefinition;
  /** As in a record of its own: `code` after a reset. */
  readonly source?: DefinitionSource;
  readonly fingerprint?: string;
  readonly change?: DefinitionChange;
  readonly pause?: Pause;
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
  names: new Map(),
  claims: new Map(),
};

const utf8 = new TextEncoder();

/**
 * The shard of a name: its hash, modulo the number of shards.
 *
 * @param shards another number only in simulations
 */
export function shardOf(name: string, shards = SHARDS): string {
  return String(hashOf(name) % shards);
}

/** FNV-1a with 32 bits over the UTF-8 bytes of a name. Most names are ASCII, whose bytes are their units. */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    const unit = name.charCodeAt(index);
    if (unit > 127) return hashOfBytes(utf8.encode(name));
    hash = Math.imul(hash ^ unit, 0x01000193);
  }
  return hash >>> 0;
}

function hashOfBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/**
 * Reads one name of a shard as a semaphore's record. A name that is not in use has no definition, unless a call asks
 * for a duration.
 *
 * @param asked duration that a call asks for, in ms; makes a definition with any group, any acquirer and one permit
 */
export function nameIn(shard: ShardRecord, name: string, asked?: number): SemaphoreRecord {
  const { nonce, seq, at, lastToken, grace } = shard;
  const entry = shard.names.get(name);
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
 * is dropped. Expired permits of all names are dropped in the same write.
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
  const { permits, revision, source, fingerprint, change, pause } = next;
  const isImplied = !shard.names.get(name)?.definition && next.definition === before.definition;
  const definition = isImplied ? undefined : next.definition;
  const names = living(shard.names, view);
  names.delete(name);
  if (definition) {
    const origin = { ...(source && { source }), ...(fingerprint !== undefined && { fingerprint }) };
    names.set(name, { revision, permits, definition, ...origin, ...(change && { change }), ...(pause && { pause }) });
  } else if (permits.length > 0) names.set(name, { revision, permits });
  const { nonce, lastToken } = next;
  const counters = { lastToken: Math.max(shard.lastToken, lastToken), revision: Math.max(shard.revision, revision) };
  return nextShard(shard, { names, ...counters }, view, nonce);
}

type ShardChanges = Partial<Pick<ShardRecord, 'names' | 'claims' | 'lastToken' | 'revision' | 'grace'>>;

/** The next shard: every write also drops expired permits, an expired grace, and names that are left empty. */
export function rewriteShard(shard: ShardRecord, changes: ShardChanges, view: View, nonce: string): ShardRecord {
  return nextShard(shard, { ...changes, names: living(changes.names ?? shard.names, view) }, view, nonce);
}

/** @param changes.names without expired permits */
function nextShard(
  { v, seq, birth, ...shard }: ShardRecord,
  changes: ShardChanges & Pick<ShardRecord, 'names'>,
  view: View,
  nonce: string,
): ShardRecord {
  const { names, claims = shard.claims, lastToken = shard.lastToken, revision = shard.revision } = changes;
  const next = { v, nonce, seq: seq + 1, at: view.now, birth, lastToken, revision, names, claims };
  const grace = 'grace' in changes ? changes.grace : shard.grace;
  return grace && !view.isExpired(grace) ? { ...next, grace } : next;
}

/** The names without expired permits, in a new map. */
function living(names: ShardRecord['names'], view: View): Map<string, NameEntry> {
  const isOver = (permit: StoredPermit) => view.isExpired(permit);
  // In the usual case nothing is over, and a copied map costs much less than one that is filled name by name.
  const alive = new Map(names);
  for (const [name, entry] of names) {
    const { permits, definition } = entry;
    // An unchanged entry stays the same object, so that its cached text is used again.
    if (!permits.some(isOver) && (permits.length > 0 || definition)) continue;
    const left = permits.filter((permit) => !isOver(permit));
    if (left.length > 0 || definition) alive.set(name, { ...entry, permits: left });
    else alive.delete(name);
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

/**
 * Checks the duration that a call asks for.
 *
 * @throws InvalidOptionsError for a duration that is longer than a shard's grace
 */
export function expectShort(shard: ShardRecord, name: string, asked: number | undefined): void {
  const longest = Math.max(LONGEST_ON_DEMAND, shard.names.get(name)?.definition?.duration ?? 0);
  if (asked === undefined || asked <= longest) return;
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
  if (permits.length === 0 || shard.names.has(name) || shard.names.size < MOST_NAMES) return;
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

/** Names whose permits changed, or whose revision did: each change of a definition raises it. */
export function changedNames(former: ShardRecord | undefined, shard: ShardRecord): string[] {
  const changed: string[] = [];
  for (const [name, entry] of former?.names ?? []) if (!isSame(entry, shard.names.get(name))) changed.push(name);
  for (const name of shard.names.keys()) if (!former?.names.has(name)) changed.push(name);
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
