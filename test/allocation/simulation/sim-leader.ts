import {
  decodeAllocationRoot,
  decodeLimboPage,
  decodeOwnedPage,
  encodeAllocationRoot,
  encodePage,
} from '../../../lib/allocation/map/map.codec.js';
import type { LimboPage, OwnedPage } from '../../../lib/allocation/map/page.js';
import { type AllocationRoot, pageKeysOf } from '../../../lib/allocation/map/root.js';
import { pagesToPutBack } from '../../../lib/allocation/round/owner-map.js';
import { planRound } from '../../../lib/allocation/round/plan-round.js';
import { RegistryWatch, type RegistryPage } from '../../../lib/allocation/round/registry-watch.js';
import type { CommitRound, RoundInput } from '../../../lib/allocation/round/round.js';
import { finish } from '../divisions.js';
import type { SimNode } from './sim-node.js';
import { LEADER_KEY, type LeaderText, REGISTRY_PAGES, ROOT_KEY, pageSlot, registryKey } from './sim-records.js';
import { HEARTBEAT, LEASE, TOLERANCE } from './world.js';

/** One node's part as a leader: elects itself when the leader is silent, reads, plans, writes. */
export class SimLeader {
  #term = 0;
  #isConfirmed = false;
  /** Of every node, from its start: a new leader then knows what the store may have put back. */
  readonly #watch = new RegistryWatch(TOLERANCE);
  readonly #owned = new Map<string, OwnedPage>();
  readonly #limbo = new Map<string, LimboPage>();
  readonly #bornSeenAt = new Map<string, number>();
  #leadsUntil = -Infinity;
  #seen: { readonly text: string | undefined; readonly at: number } | undefined;
  #wake: (() => void) | undefined;

  constructor(private readonly node: SimNode) {}

  wake(): void {
    if (this.#leadsUntil > this.node.mono()) this.#wake?.();
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#elect();
      const isLeading = this.#leadsUntil > this.node.mono() && !this.node.isLeaving;
      const pause = isLeading ? await this.#turn() : await this.#follow();
      await this.node.pause(pause, (wake) => (this.#wake = wake));
      await this.node.pause(60);
    }
  }

  /** Two leaders at once do no harm, so a silent leader is replaced without further proof. */
  async #elect(): Promise<void> {
    const { world } = this.node;
    const found = await world.read(this.node, LEADER_KEY);
    const at = this.node.mono();
    if (!found) return;
    if (this.node.isLeaving) return this.#resign(found.value);
    if (this.#seen?.text !== found.value || !this.#seen) this.#seen = { text: found.value, at };
    const leader = found.value === undefined ? undefined : (JSON.parse(found.value) as LeaderText);
    const isMine = leader?.instance === this.node.instance && this.#leadsUntil > at;
    if (!isMine && leader && leader.instance !== '' && at < this.#seen.at + LEASE + TOLERANCE) return;
    const next: LeaderText = { instance: this.node.instance, beat: (leader?.beat ?? 0) + 1 };
    const answer = await world.replace(this.node, LEADER_KEY, found.value, JSON.stringify(next));
    if (!answer?.value) return;
    this.#leadsUntil = at + LEASE - TOLERANCE;
    this.#isConfirmed = true;
  }

  async #resign(text: string | undefined): Promise<void> {
    const leader = text === undefined ? undefined : (JSON.parse(text) as LeaderText);
    if (leader?.instance !== this.node.instance) return;
    const free: LeaderText = { instance: '', beat: leader.beat + 1 };
    await this.node.world.replace(this.node, LEADER_KEY, text, JSON.stringify(free));
  }

  /** @returns ms until the next one */
  async #turn(): Promise<number> {
    const { world } = this.node;
    const text = await world.read(this.node, ROOT_KEY);
    if (!text) return 200;
    const found = text.value === undefined ? undefined : decodeAllocationRoot('sim', text.value);
    if (found && !(await this.#readPages(found))) return 200;
    const readAt = this.node.mono();
    const registry = await this.#readRegistry();
    if (!registry) return 200;
    const known = { owned: this.#owned, limbo: this.#limbo };
    for (const [key, page] of found ? pagesToPutBack(found, registry, known) : [])
      await this.#putBack(key, encodePage(key, page));
    const round = finish(planRound({ ...this.#input(found, readAt), registry, pages: known }));
    if (round.kind === 'idle') return Math.min(HEARTBEAT, Math.max(5, registry.nextChangeIn), 1000);
    return (await this.#commit(round, text.value)) ? 20 : 200;
  }

  async #follow(): Promise<number> {
    await this.#readRegistry();
    return HEARTBEAT / 2;
  }

  async #readRegistry() {
    const { world } = this.node;
    const sent = this.node.mono();
    const earliest = world.earliest();
    const pages = await Promise.all(
      Array.from({ length: REGISTRY_PAGES }, (_, page) => world.read(this.node, registryKey(page))),
    );
    if (pages.some((page) => !page)) return undefined;
    return this.#watch.observe({
      pages: pages.map((page) => (page!.value === undefined ? undefined : (JSON.parse(page!.value) as RegistryPage))),
      sent,
      received: this.node.mono(),
      earliest,
      sampledAt: this.node.mono(),
    });
  }

  #input(found: AllocationRoot | undefined, readAt: number): Omit<RoundInput, 'registry' | 'pages'> {
    const { world, work, copy } = this.node;
    if (found && !this.#bornSeenAt.has(found.born)) this.#bornSeenAt.set(found.born, readAt);
    const leadership = { term: this.#term, isConfirmed: this.#isConfirmed };
    this.#isConfirmed = false;
    return {
      found,
      copy,
      readAt,
      bornSeenAt: (found && this.#bornSeenAt.get(found.born)) ?? readAt,
      resources: work.resources,
      orders: work.orders,
      options: { lease: this.node.lease, tolerance: TOLERANCE, isSettled: true, limit: work.limit },
      leadership,
      now: world.latest(),
      nonce: world.id(),
    };
  }

  async #readPages(root: AllocationRoot): Promise<boolean> {
    const reads = [
      ...[...root.members.values()].flat().map((key) => this.#readPage(key, this.#owned, decodeOwnedPage)),
      ...root.limbo.map((key) => this.#readPage(key, this.#limbo, decodeLimboPage)),
    ];
    return (await Promise.all(reads)).every(Boolean);
  }

  async #readPage<P>(key: string, into: Map<string, P>, decode: (key: string, text: string) => P | undefined) {
    if (into.has(key)) return true;
    const text = await this.node.world.read(this.node, pageSlot(key));
    const page = text?.value === undefined ? undefined : decode(key, text.value);
    if (page) into.set(key, page);
    return text !== undefined;
  }

  /** A page of the root was lost, or a former leader has overwritten it. */
  async #putBack(key: string, text: string): Promise<void> {
    const { world } = this.node;
    const found = await world.read(this.node, pageSlot(key));
    if (found && found.value !== text) await world.replace(this.node, pageSlot(key), found.value, text);
  }

  async #commit(round: CommitRound, expected: string | undefined): Promise<boolean> {
    const { world } = this.node;
    const pages = [...round.owned, ...round.limbo];
    const former = await Promise.all(pages.map(([key]) => world.read(this.node, pageSlot(key))));
    // A slot that was free in this root may be in use in a later one.
    const again = await world.read(this.node, ROOT_KEY);
    if (!again || again.value !== expected || former.includes(undefined)) return false;
    const written = await Promise.all(
      pages.map(([key, page], at) => world.replace(this.node, pageSlot(key), former[at]!.value, encodePage(key, page))),
    );
    if (!written.every((answer) => answer?.value)) return false;
    for (const [key, page] of round.owned) this.#owned.set(key, page);
    for (const [key, page] of round.limbo) this.#limbo.set(key, page);
    const answer = await world.replace(this.node, ROOT_KEY, expected, encodeAllocationRoot(round.root));
    if (!answer?.value) return false;
    this.#term = round.root.term;
    this.node.copy = round.root;
    world.hint();
    const kept = new Set(pageKeysOf(round.root));
    for (const pages of [this.#owned, this.#limbo]) {
      for (const key of pages.keys()) if (!kept.has(key)) pages.delete(key);
    }
    return true;
  }
}
