import type { Fault } from './faults.js';
import type { OwnerNode } from './owner-node.js';
import type { Scene } from './scene.js';

/** ms by which a clock jumps at most. */
const LONGEST_JUMP = 100_000;

/** Makes trouble in a scene: one thing after another, of the kinds that the schedule has. */
export class Trouble {
  #names = 0;
  /** Processes whose wall clock may be set back: their machines do not sleep. */
  readonly #mayBeSetBack: ReadonlySet<string>;
  #hasClockJumped = false;

  constructor(private readonly scene: Scene) {
    const { chance } = scene;
    this.#mayBeSetBack = new Set(['n0', 'n1', 'n2', 'n3', 'n4', 'n5'].filter(() => chance.happens(0.5)));
  }

  /** Plans all trouble of the next `duration` ms. */
  plan(duration: number): void {
    const { chance, time, faults, trace } = this.scene;
    const actions = Object.entries(this.#actions()).filter(([fault]) => faults.has(fault as Fault));
    if (actions.length === 0) return;
    const fastest = chance.skewed(50, 1500);
    for (let at = 0; at < duration; at += chance.between(fastest, 3500)) {
      const [fault, act] = chance.pick(actions);
      time.after(at, () => {
        if (!this.scene.isTrouble) return;
        trace.note('', () => `trouble: ${fault}`);
        act();
      });
    }
  }

  /** A new process on a machine without one. */
  startNew(): void {
    this.scene.start(`n${this.#names++}`);
  }

  #actions(): Partial<Record<Fault, () => unknown>> {
    const { chance, cluster } = this.scene;
    return {
      crash: () => this.#crash(this.#any()),
      freeze: () => this.#stop(this.#any(), 'freeze'),
      sleep: () => this.#sleep(),
      wallClock: () => this.#jumpWall(this.#any()),
      cut: () => this.#cut(this.#any()),
      outage: () => {
        cluster.goDown();
        this.#later(chance.skewed(100, 2 * this.scene.lease), () => cluster.comeBack());
      },
      split: () => {
        cluster.splitUp();
        this.#later(chance.skewed(100, 3 * this.scene.lease), () => cluster.merge());
      },
      memberClock: () => this.#jump(true),
      allClocksBack: () => this.#jump(false),
      lostData: () => this.#loseData(),
      failover: () => this.#later(chance.skewed(1, this.scene.lease), cluster.replicate()),
      hostDies: () => cluster.doomNextWriter('allocation:root', (writer) => this.#crashNamed(writer)),
      leave: () => this.#leave(),
      resources: () => void (this.scene.resources = this.scene.all.filter(() => chance.happens(0.8))),
      orders: () => this.scene.members.length > 0 && this.#order(chance.pick(this.scene.members)),
    };
  }

  #any(): OwnerNode {
    return this.scene.chance.pick(this.scene.living);
  }

  #later(delay: number, action: () => void): void {
    this.scene.time.after(delay, () => this.scene.isTrouble && action());
  }

  /** ms: shorter than a lease as often as longer. */
  get #while(): number {
    const { chance, lease } = this.scene;
    return chance.between(0, chance.happens(0.5) ? 0.7 : 2.5) * lease;
  }

  #stop(node: OwnerNode, how: 'freeze' | 'sleep'): void {
    const length = this.#while;
    this.scene.trace.note(node.instance, () => `${how} for ${length.toFixed(0)} ms`);
    node.process[how]();
    this.#later(length, () => {
      this.scene.trace.note(node.instance, () => 'resumes');
      node.process.resume();
    });
  }

  #sleep(): void {
    const node = this.#any();
    if (!this.#mayBeSetBack.has(node.name)) this.#stop(node, 'sleep');
  }

  #jumpWall({ process, name }: OwnerNode): void {
    const { chance } = this.scene;
    process.jumpWall(chance.between(this.#mayBeSetBack.has(name) ? -600_000 : 0, 600_000));
  }

  #cut({ instance }: OwnerNode): void {
    const { cluster, chance } = this.scene;
    cluster.cutOff(instance, chance.skewed(10, 3000));
    this.#later(this.#while, () => cluster.reconnect(instance));
  }

  #crashNamed(name: string): boolean {
    const { isTrouble, living } = this.scene;
    return isTrouble && this.#crash(living.find(({ instance }) => instance === name));
  }

  /** @returns false if too few would be left */
  #crash(node: OwnerNode | undefined): boolean {
    const { scene } = this;
    if (!node || scene.living.length < 3) return false;
    scene.trace.note(node.instance, () => 'CRASHES');
    node.process.crash();
    if (!scene.chance.happens(0.8)) return true;
    const isSame = scene.chance.happens(0.5);
    this.#later(scene.chance.skewed(10, 2 * scene.lease), () => {
      if (isSame) scene.start(node.name);
      else this.startNew();
    });
    return true;
  }

  #leave(): void {
    const { scene } = this;
    if (scene.staying.length < 3) return;
    const node = scene.chance.pick(scene.staying);
    // A frozen process gets the signal when it goes on.
    node.process.io(() => node.isLeaving || node.leave());
    this.#later(scene.chance.skewed(10, 2 * scene.lease), () => this.startNew());
  }

  /** Within the assumptions clocks jump once: a node that has just started can't tell a second jump from the first. */
  #jump(isOneMember: boolean): void {
    const { chance, cluster } = this.scene;
    if (this.#hasClockJumped) return;
    this.#hasClockJumped = true;
    const by = chance.pick(isOneMember ? [3000, -3000, LONGEST_JUMP, -LONGEST_JUMP] : [-3000, -LONGEST_JUMP]);
    cluster.jumpClock(by, isOneMember);
  }

  #loseData(): void {
    const { chance, cluster } = this.scene;
    const part = chance.number();
    if (part < 0.2) cluster.becomeFragile();
    else if (part < 0.35) cluster.lose(() => true);
    else if (part < 0.6) cluster.lose((key) => key.startsWith('allocation:root'));
    else if (part < 0.8) cluster.lose((key) => key.startsWith('allocation:') && chance.happens(0.5));
    else cluster.lose(() => chance.happens(0.3));
  }

  #order(node: OwnerNode): void {
    const { chance, all, staying, trace } = this.scene;
    const { group, instance } = node;
    const name = chance.pick(staying).name;
    const id = chance.pick(all);
    const order = chance.weighted({ pin: 4, unpin: 2, drain: 1, undrain: 2, rebalance: 2, plan: 1, overview: 1 });
    trace.note(instance, () => `${order} ${id} ${name}`);
    const orders: Record<typeof order, () => Promise<unknown>> = {
      pin: () => group.pin(id, name),
      unpin: () => group.unpin(id),
      drain: () => group.drain(name),
      undrain: () => group.undrain(name),
      rebalance: () => group.rebalance(),
      plan: () => group.plan(),
      overview: () => group.overview(),
    };
    node.watch(order, orders[order]());
  }
}
