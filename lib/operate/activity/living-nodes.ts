import { type Context, timeOf } from '../../core/context/context.js';
import { UnreadableEntries } from '../../core/context/unreadable-entries.js';
import { byName } from '../../core/context/node-identity.js';
import { DecodeCache } from '../../core/cell/decode-cache.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { sortedInPieces } from '../../core/async/sorted.js';
import type { Membership } from '../../core/members/membership.js';
import { decodeCode, decodeUsed } from '../../core/permits/declared/node-code.js';
import { type NodeCode, type NodeInfo, decodeCards } from './node-info.js';

/** Of the registry's texts. */
export const KEY_PREFIX = 'nodes:';
/** A node that misses this many heartbeats counts as dead. */
const SILENCE = 3;

/** Reads the registry: the living nodes, with the definitions in their code. */
export class LivingNodes {
  /** The result of the latest call of {@link read}. */
  known: readonly NodeInfo[] = [];
  /** The same, with the code. */
  knownCodes: readonly NodeCode[] = [];
  /** The entries that can't be read. */
  readonly leftOut: UnreadableEntries;
  readonly #decoded = new DecodeCache((_key, text) => entriesOf(text));

  constructor(
    private readonly context: Context,
    private readonly membership: Pick<Membership, 'isHeld' | 'participants'>,
  ) {
    this.leftOut = new UnreadableEntries('read the entries of the nodes', context);
  }

  /**
   * Reads the living nodes, sorted by group and acquirer.
   *
   * @throws StoreUnavailableError
   */
  async read(): Promise<NodeCode[]> {
    const { store, nodeClock } = this.context;
    await learnTime(this.context);
    const texts = await store.records.list(KEY_PREFIX);
    const cards = [...(await inSlices(this.#decoded.all(texts), nodeClock)).values()];
    this.leftOut.note(cards.flatMap(({ faults }) => faults));
    const isHere = this.#presence();
    const now = timeOf(this.context);
    const living = cards.flatMap(({ codes }) => codes).filter(({ node }) => isAlive(node, now) && isHere(node));
    const sorted = await inSlices(
      sortedInPieces(living, (one, other) => byName(one.node, other.node)),
      nodeClock,
    );
    this.known = sorted.map(({ node }) => node);
    this.knownCodes = sorted;
    return sorted;
  }

  /**
   * As {@link read}, without the code.
   *
   * @throws StoreUnavailableError
   */
  async nodes(): Promise<NodeInfo[]> {
    return (await this.read()).map(({ node }) => node);
  }

  /**
   * As {@link read}, and says whether that is all: the node of an entry that can't be read may define any name.
   *
   * @throws StoreUnavailableError
   */
  async codes(): Promise<{ readonly codes: readonly NodeCode[]; readonly isWhole: boolean }> {
    const codes = await this.read();
    return { codes, isWhole: this.leftOut.count === 0 };
  }

  /** A participant that this node sees to be gone is dead, even if its entry is young. */
  #presence(): (card: NodeInfo) => boolean {
    if (!this.membership.isHeld) return () => true;
    const participants = new Set(this.membership.participants().map(({ id }) => id));
    return ({ instance, lease }) => lease === undefined || participants.has(instance);
  }
}

/** The times of entries are cluster time. This node's own clock may be wrong, and would drop living nodes. */
export async function learnTime({ clusterClock }: Context): Promise<void> {
  if (!clusterClock.isFresh) await clusterClock.sample();
}

/** @param now ms since the epoch, cluster time */
export function isAlive({ at, heartbeat }: NodeInfo, now: number): boolean {
  return now - at < SILENCE * Math.max(heartbeat, 1000);
}

/** Keeps the nodes' code apart: their entries are shown to people. */
function* entriesOf(text: string): Pieces<{ readonly codes: NodeCode[]; readonly faults: readonly string[] }> {
  const { nodes, faults } = yield* decodeCards(text);
  const codes: NodeCode[] = [];
  /** Nodes of one version have the same code. */
  const decoded = new Map<string, NodeCode['fingerprintOf']>();
  for (const { code = '', used = '', ...node } of nodes) {
    const fingerprintOf = decoded.get(code) ?? decodeCode(code);
    decoded.set(code, fingerprintOf);
    codes.push({ node, code, fingerprintOf, hasUsed: decodeUsed(used) });
    yield 1;
  }
  return { codes, faults };
}
