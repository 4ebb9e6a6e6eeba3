import { Chance } from '../../simulation/world/chance.js';
import { assigned, sharesOf } from '../divisions.js';
import { Checker } from './checker.js';
import { SimNode } from './sim-node.js';
import { ROOT_KEY, type Work } from './sim-records.js';
import { FAULTS, type Fault, LEASE, TOLERANCE, World } from './world.js';

/** True time in ms at which the trouble begins, and ends. */
const TROUBLE_BEGINS = 2 * (LEASE + TOLERANCE);
const TROUBLE_ENDS = TROUBLE_BEGINS + 35_000;
/**
 * Allowed time from the end of the trouble until all is even: a leader that died in the last moment is replaced after one
 * lease, and then finds a node whose last write was late. After lost data or wrong clocks, leases and graces may follow
 * one another.
 */
const IN_TIME = 2 * (LEASE + TOLERANCE) + 4000;
const AT_LAST = 12 * LEASE;

export interface Outcome {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Promises that were broken. */
  readonly violations: readonly string[];
  /** Why all was not settled at last; empty if it was. */
  readonly unsettled: string;
  /** ms from the end of the trouble until all was even. */
  readonly settledAfter: number;
}

/**
 * One schedule: nodes that divide resources, trouble for 35 s, then peace. The seed decides everything.
 *
 * @param extra faults besides those that the seed draws
 */
export async function simulate(seed: number, extra: readonly Fault[] = []): Promise<Outcome> {
  const chance = new Chance(seed);
  const faults = [...FAULTS.filter(() => chance.happens(0.35)), ...extra];
  const scene = new Scene(new World(chance, new Set(faults)), chance.fork());
  await scene.play();
  return { seed, faults, violations: scene.checker.violations, ...(await scene.settle()) };
}

class Scene {
  readonly checker: Checker;
  readonly #nodes: SimNode[] = [];
  readonly #all: readonly string[];
  readonly #work: Work;
  readonly #isWeighted: boolean;
  #names = 0;

  constructor(
    readonly world: World,
    private readonly chance: Chance,
  ) {
    this.checker = new Checker(() => world.time.now);
    this.#isWeighted = chance.happens(0.4);
    this.#all = Array.from({ length: chance.whole(7, 26) }, (_, index) => `resource-${String(index).padStart(2, '0')}`);
    const limit = chance.happens(0.3) ? { count: chance.whole(1, 3) } : {};
    this.#work = { resources: this.#all, orders: { pins: new Map(), drained: new Set() }, limit };
    for (let count = chance.whole(3, 6); count > 0; count--)
      this.#after(chance.between(0, 300), () => void this.#start());
  }

  async play(): Promise<void> {
    const { world } = this;
    await world.time.pass(TROUBLE_BEGINS);
    world.isTrouble = true;
    const actions = Object.entries(this.#actions()).filter(([fault]) => world.faults.has(fault as Fault));
    for (let at = 0; actions.length > 0 && at < TROUBLE_ENDS - TROUBLE_BEGINS; at += this.chance.between(50, 3500)) {
      const [, act] = this.chance.pick(actions);
      this.#after(at, () => world.isTrouble && act());
    }
    await world.time.pass(TROUBLE_ENDS - TROUBLE_BEGINS);
    world.isTrouble = false;
    world.memberClocks.fill(0);
    this.#work.orders = { pins: new Map(), drained: new Set() };
    if (this.#staying().length === 0) this.#start();
    for (const node of this.#living()) {
      node.cut = 'none';
      node.frozenUntil = Math.min(node.frozenUntil, world.time.now);
    }
  }

  async settle(): Promise<Pick<Outcome, 'unsettled' | 'settledAfter'>> {
    const { time } = this.world;
    const ended = time.now;
    while (this.#unsettled() !== '' && time.now - ended < AT_LAST) await time.pass(100);
    return { unsettled: this.#unsettled(), settledAfter: time.now - ended };
  }

  #start(name = `node-${this.#names++}`): SimNode {
    const weight = this.#isWeighted ? this.chance.whole(1, 3) : 1;
    const node = new SimNode(this.world, name, weight, this.#work, this.checker);
    this.#nodes.push(node);
    return node;
  }

  #after(delay: number, action: () => void): void {
    this.world.time.after(delay, action);
  }

  #living(): SimNode[] {
    return this.#nodes.filter(({ isStopped }) => !isStopped);
  }

  #actions(): Partial<Record<Fault, () => void>> {
    const { chance, world } = this;
    const any = () => chance.pick(this.#living());
    return {
      crash: () => this.#crash(any()),
      freeze: () =>
        void (any().frozenUntil = world.time.now + chance.between(0, chance.happens(0.5) ? 0.7 : 2.5) * LEASE),
      cut: () => {
        const node = any();
        node.cut = chance.happens(0.5) ? 'calls' : 'answers';
        this.#after(chance.between(0, 2.5 * LEASE), () => void (node.cut = 'none'));
      },
      clock: () => this.#jump(),
      lostData: () => this.#loseData(),
      rollback: () => this.#rollBack(),
      leave: () => {
        if (this.#staying().length < 3) return;
        any().isLeaving = true;
        this.#after(chance.between(0, LEASE), () => void this.#start());
      },
      resources: () => void (this.#work.resources = this.#all.filter(() => chance.happens(0.8))),
      orders: () => this.#order(),
    };
  }

  #staying(): SimNode[] {
    return this.#living().filter(({ isLeaving }) => !isLeaving);
  }

  #crash(node: SimNode): void {
    if (this.#living().length < 3) return;
    node.isStopped = true;
    const name = this.chance.happens(0.5) ? node.name : undefined;
    if (this.chance.happens(0.7)) this.#after(this.chance.between(50, 2 * LEASE), () => void this.#start(name));
  }

  #jump(): void {
    const { memberClocks } = this.world;
    if (memberClocks.some((clock) => Math.abs(clock) > TOLERANCE)) return;
    const index = this.chance.whole(0, 2);
    const former = memberClocks[index]!;
    memberClocks[index] = former + this.chance.pick([3000, -3000, 100_000, -100_000]);
    this.#after(this.chance.between(0, 15_000), () => void (memberClocks[index] = former));
  }

  #loseData(): void {
    const { store } = this.world;
    const part = this.chance.number();
    if (part < 0.25) store.clear();
    else if (part < 0.5) store.delete(ROOT_KEY);
    else for (const key of store.keys()) if (this.chance.happens(0.3)) store.delete(key);
  }

  /** The store puts back old texts: all of them, or those of some keys. */
  #rollBack(): void {
    const old = new Map(this.world.store);
    const isWhole = this.chance.happens(0.5);
    this.#after(this.chance.between(100, 2 * LEASE), () => {
      for (const [key, text] of old) if (isWhole || this.chance.happens(0.4)) this.world.store.set(key, text);
    });
  }

  #order(): void {
    const names = this.#living().map(({ name }) => name);
    const pins = new Map(this.#all.filter(() => this.chance.happens(0.1)).map((id) => [id, this.chance.pick(names)]));
    const drained = this.chance.happens(0.4) ? [this.chance.pick(names)] : [];
    this.#work.orders = { pins, drained: new Set(drained) };
  }

  /** The first thing that is not as it should be: each resource has one owner, and the shares are those of the weights. */
  #unsettled(): string {
    const { resources } = this.#work;
    const living = this.#living();
    const owners = new Map<string, string>();
    for (const resource of this.#all) {
      const count = living.filter((node) => node.tokenOf(resource) !== undefined);
      const wanted = resources.includes(resource) ? 1 : 0;
      if (count.length !== wanted) return `${resource} has ${count.length} owners instead of ${wanted}`;
      for (const { inc } of count) owners.set(resource, inc);
    }
    const participants = living.map(({ inc, weight, isLeaving }) => ({
      id: inc,
      weight: isLeaving ? 0 : weight,
    }));
    const { revoke } = assigned({ resources, participants, current: owners });
    return revoke.length === 0 ? '' : `uneven: ${[...sharesOf(owners, participants).values()].join(', ')}`;
  }
}

/** Whether a schedule kept the bound on the time after the trouble. */
export function isInTime({ settledAfter, faults, unsettled }: Outcome): boolean {
  const needsGrace = faults.some((fault) => fault === 'lostData' || fault === 'rollback' || fault === 'clock');
  return unsettled === '' && settledAfter <= (needsGrace ? AT_LAST : IN_TIME);
}
