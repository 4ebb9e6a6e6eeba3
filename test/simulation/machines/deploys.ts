import { codeDefinition } from '../../../lib/core/permits/declared/node-code.js';
import { type SemaphoreDefinition, decodeRecord, shortestDuration } from '../../../lib/core/decision/index.js';
import { KEY_PREFIX } from '../../../lib/core/decision/record.js';
import type { FaultMix } from '../kind/fault-mix.js';
import type { Chance } from '../world/chance.js';
import { SEMAPHORE, type World } from '../world/world.js';
import type { Machines } from './machines.js';
import type { SimNode } from './node.js';

/** ms */
export const HEARTBEAT = 2000;
/** In how many starts a node has the other version: a canary, or an old pod that restarts in the middle. */
const STRAGGLERS = 0.2;
/** In how many deploys a node ends in order. The others are killed. */
const IN_ORDER = 0.6;
/** ms until each node has noticed who lives, and has looked at its definitions: three heartbeats and two sweeps. */
const SETTLED = 3 * HEARTBEAT + 25_000;

/** ms after which a node surely has its entry in the registry, if nothing goes wrong. */
const ANNOUNCED = 2 * HEARTBEAT;

/**
 * The two versions of the code's definition, and which of them is deployed. Checks what deploys promise:
 *
 * S6 a definition of code is that of a living node when the deploys have ended, and stays so.
 * S7 code never replaces what an operator set.
 * S8 code replaces no definition that a living node has in its code.
 */
export class Deploys {
  readonly versions: readonly [SemaphoreDefinition, SemaphoreDefinition];
  #deployed: 0 | 1 = 0;
  /** Nodes that end already: a second deploy does not start a second process of their names. */
  readonly #replaced = new Set<SimNode>();
  /** The ids of the changes by which code was followed. */
  readonly #followed = new Set<string>();
  #cluster?: { readonly world: World; readonly machines: Machines };

  constructor(
    first: SemaphoreDefinition,
    tolerance: number,
    private readonly chance: Chance,
  ) {
    const shortest = shortestDuration(tolerance);
    // Never longer: in some mixes no permit may last longer than the first version says.
    const duration = Math.max(shortest, Math.round(first.duration * chance.between(0.5, 1)));
    const permits = chance.pick([1, 2, 3].filter((count) => count !== first.permits));
    this.versions = [first, { ...first, duration, permits }];
  }

  /** The definition in the code of a node that starts now. */
  get code(): SemaphoreDefinition {
    const isOther = this.chance.happens(STRAGGLERS);
    return this.versions[isOther ? 1 - this.#deployed : this.#deployed]!;
  }

  /** Plans one to four deploys of the other version: forth, back, and so on. */
  plan(world: World, machines: Machines): void {
    this.#cluster = { world, machines };
    const { horizon } = world.measures;
    for (let count = this.chance.whole(1, 4); count > 0; count--) {
      world.time.after(this.chance.between(0, horizon), () => this.#deploy(world, machines));
    }
  }

  #deploy({ time, trace, measures }: World, machines: Machines): void {
    this.#deployed = this.#deployed === 0 ? 1 : 0;
    trace.note('', () => `deploys version ${this.#deployed + 1}`);
    for (const node of machines.living) {
      time.after(this.chance.skewed(1, measures.horizon / 6), () => {
        if (node.process.isCrashed || this.#replaced.has(node)) return;
        this.#replaced.add(node);
        machines.replace(node, this.chance.happens(IN_ORDER), this.chance.skewed(10, measures.horizon / 10));
      });
    }
  }

  /** S7 and S8: a write to the store. */
  written(key: string, text: string, formerText: string | undefined): void {
    if (key !== KEY_PREFIX + SEMAPHORE || formerText === undefined || !this.#cluster) return;
    const [record, former] = [decodeRecord(SEMAPHORE, text), decodeRecord(SEMAPHORE, formerText)];
    // A record that the store lost is restored with its last change.
    if (record.change?.kind !== 'follow' || this.#followed.has(record.change.id)) return;
    this.#followed.add(record.change.id);
    const { world, machines } = this.#cluster;
    if (former.source !== 'code') world.checker.violated(`S7 the code replaced what an operator set: ${formerText}`);
    const owner = machines.living.find(
      (node) => this.#isAnnounced(node, world) && fingerprintOf(node) === former.fingerprint,
    );
    if (owner && isCalm(world.faultMix))
      world.checker.violated(
        `S8 ${owner.name} has the definition in its code that another one replaced: ${formerText}`,
      );
  }

  #isAnnounced(node: SimNode, { time }: World): boolean {
    return !this.#replaced.has(node) && time.now - node.startedAt > ANNOUNCED;
  }

  /** S6. Call it when nothing goes wrong and nobody edits. */
  async check({ time, cluster, checker, measures }: World, machines: Machines): Promise<void> {
    // A grace may be as long as the longest permit.
    await time.pass(SETTLED + 2 * measures.longest);
    const stored = () => {
      const text = cluster.text(KEY_PREFIX + SEMAPHORE);
      return text === undefined ? undefined : decodeRecord(SEMAPHORE, text);
    };
    const record = stored();
    if (record?.source !== 'code') return;
    const isAnnounced = machines.living.some((node) => fingerprintOf(node) === record.fingerprint);
    if (!isAnnounced) checker.violated(`S6 the definition is of no living node: ${JSON.stringify(record)}`);
    await time.pass(SETTLED);
    const later = stored();
    // A reset by the workload is another revision of the same definition, and its edits are an operator's.
    if (later?.source === 'code' && later.fingerprint !== record.fingerprint)
      checker.violated(`S6 the definition changed again, to ${JSON.stringify(later)}`);
  }
}

function fingerprintOf({ code }: SimNode): string {
  return codeDefinition(code!).fingerprint;
}

/** Whether no fault keeps a living node out of the registry. */
function isCalm(mix: FaultMix): boolean {
  const { lostReply, lostRequest, slow, freezes, sleeps, cuts, outages, splits, dataLosses, failovers } = mix;
  return [lostReply, lostRequest, slow, freezes, sleeps, cuts, outages, splits, dataLosses, failovers].every(
    (rate) => rate === 0,
  );
}

/** A node that ends in order: nothing new begins, and what it holds goes back. */
export async function endInOrder(node: SimNode): Promise<void> {
  node.stopWork();
  // As an application's server does: it closes only when its requests have ended.
  while (node.isBusy) await node.pause(20);
  await node.gatekeeper.close();
  node.process.crash();
}
