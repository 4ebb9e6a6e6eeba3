import { type SemaphoreRecord, type View, graceIn } from '../../core/decision/index.js';

/** A living node whose code defines a name, as the registry announces it. */
export interface Announcement {
  /** When the node started: ms since the epoch, cluster time. */
  readonly startedAt: number;
  /** Fingerprint of its definition. */
  readonly fingerprint: string;
}

/** Facts about one name besides its record, as a node knows them. */
export interface CodeFacts {
  /** Fingerprint of the definition in this node's code. */
  readonly own: string;
  /** The living nodes whose code defines the name; undefined while the registry can't be read. */
  readonly announced: readonly Announcement[] | undefined;
  /** Whether the option `codeChanges` is `follow`. */
  readonly follows: boolean;
}

/**
 * `same`: the store has the definition of this node's code. `operator`: an operator's definition counts. `kept`: by the
 * option. `unsure`: the registry can't be read, or does not have this node yet. `announced`: a living node has the stored
 * definition in its code. `later`: another living node's definition is to be taken. `take`: this node's is to be taken.
 */
export type CodeVerdict = 'same' | 'operator' | 'kept' | 'unsure' | 'announced' | 'later' | 'take';

/**
 * Decides whether the stored definition of a name follows this node's code. Pure. The first row that applies decides.
 *
 * |   | the stored definition                    | the registry                                     | verdict     |
 * | - | ---------------------------------------- | ------------------------------------------------ | ----------- |
 * | 1 | is an operator's, or was removed         | any                                              | `operator`  |
 * | 2 | has this node's fingerprint              | any                                              | `same`      |
 * | 3 | has another one, and `codeChanges: keep` | any                                              | `kept`      |
 * | 4 | has another one                          | unreadable, or without this node's fingerprint   | `unsure`    |
 * | 5 | has another one                          | a living node announces the stored fingerprint   | `announced` |
 * | 6 | has another one                          | the node that started last announces another one | `later`     |
 * | 7 | has another one                          | the node that started last announces this one    | `take`      |
 *
 * So a definition never goes back and forth: while both versions live, the stored one stays. Row 4 requires that this
 * node is announced itself: otherwise another node could take its own definition a moment later, and neither would see
 * the other.
 */
export function codeVerdict(
  { source, fingerprint }: Pick<SemaphoreRecord, 'source' | 'fingerprint'>,
  { own, announced, follows }: CodeFacts,
): CodeVerdict {
  if (source !== 'code') return 'operator';
  if (fingerprint === own) return 'same';
  if (!follows) return 'kept';
  if (!announced?.some((each) => each.fingerprint === own)) return 'unsure';
  if (announced.some((each) => each.fingerprint === fingerprint)) return 'announced';
  return announced.reduce(laterOf).fingerprint === own ? 'take' : 'later';
}

/**
 * Finds the nodes whose code is the reason of a verdict. Pure.
 *
 * @returns for `announced` those that have the stored definition, for `later` those whose definition is to be taken; for
 * other verdicts none
 */
export function reasonsOf<A extends Announcement>(
  verdict: CodeVerdict,
  { fingerprint: stored }: Pick<SemaphoreRecord, 'fingerprint'>,
  announced: readonly A[] = [],
): A[] {
  if (verdict === 'announced') return announced.filter(({ fingerprint }) => fingerprint === stored);
  if (verdict !== 'later') return [];
  const latest = announced.reduce<Announcement | undefined>(
    (one, other) => (one ? laterOf(one, other) : other),
    undefined,
  );
  return announced.filter((each) => each.startedAt === latest?.startedAt && each.fingerprint === latest.fingerprint);
}

/** Of two nodes that started at the same time, the higher fingerprint decides, so that all nodes choose the same one. */
function laterOf(one: Announcement, other: Announcement): Announcement {
  if (one.startedAt !== other.startedAt) return one.startedAt > other.startedAt ? one : other;
  return one.fingerprint > other.fingerprint ? one : other;
}

/**
 * Whether a record is still the one for which a node decided `take`. Not during a grace: the store has lost data, so the
 * registry may lack living nodes.
 *
 * @param archivedRevision revision in the archive; a higher one than the record's has to come back first
 */
export function isStillDue(
  record: SemaphoreRecord,
  seen: Pick<SemaphoreRecord, 'revision' | 'fingerprint'>,
  archivedRevision: number,
  view: View,
): boolean {
  const isSame = record.revision === seen.revision && record.fingerprint === seen.fingerprint;
  const isFollowing = record.source === 'code' && record.definition !== undefined;
  return isSame && isFollowing && record.revision >= archivedRevision && graceIn(record, view) === undefined;
}
