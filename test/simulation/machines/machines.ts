import type { Chance } from '../world/chance.js';
import { SimNode } from './node.js';
import { Outsider } from './outsider.js';
import { endInOrder } from './deploys.js';
import { type ClockFaults, SimProcess } from './sim-process.js';
import type { World } from '../world/world.js';

/** ms from one sample of the members' clocks to the next. */
const SAMPLE_INTERVAL = 10_000;
/** How often a process asks in its first step after a freeze whether it still leads; else a timer may come first. */
const FIRST_LOOKS = 0.5;

/** The machines of one schedule, the processes that ran on them one after another, and what befalls them. */
export class Machines {
  readonly nodes: SimNode[] = [];
  readonly #outsiders: { readonly outsider: Outsider; isIdle: boolean }[] = [];
  #isStopped = false;

  constructor(private readonly world: World) {}

  /** Starts a node, and plans what will happen to it until `horizon` (ms of true time). */
  boot(name: string, horizon: number, delay: number, chance: Chance, clocks = this.#clockFaults(chance)): void {
    const { time } = this.world;
    time.after(delay, () => {
      const node = new SimNode(name, new SimProcess(time, clocks), this.world, chance.fork());
      this.nodes.push(node);
      node.start();
      // A deploy may bring it after the end of the work.
      if (this.#isStopped) node.stopWork();
      this.#plan(node, horizon, chance, clocks);
    });
  }

  /** A deploy ends a node, and starts another one in its place after `delay` ms. */
  replace(node: SimNode, isInOrder: boolean, delay: number): void {
    const { trace, measures, chance } = this.world;
    trace.note(node.name, () => `is replaced, ${isInOrder ? 'in order' : 'killed'}`);
    if (isInOrder) node.watch('close', endInOrder(node));
    else node.process.crash();
    this.boot(`${node.name}+`, measures.horizon, delay, chance.fork());
  }

  /** A program that is no node, on a machine where nothing goes wrong but its clock. */
  invite(name: string, chance: Chance): void {
    const { time, checker } = this.world;
    const process = new SimProcess(time, this.#clockFaults(chance));
    const invited = { outsider: new Outsider(name, process, this, this.world, chance), isIdle: false };
    this.#outsiders.push(invited);
    invited.outsider
      .work()
      .catch((error: Error) => checker.violated(`${name} failed: ${error.stack}`))
      .finally(() => (invited.isIdle = true));
  }

  /** Nothing new; what goes on ends when it ends. */
  stop(): void {
    this.#isStopped = true;
    for (const node of this.living) node.stopWork();
    for (const { outsider } of this.#outsiders) outsider.stop();
  }

  get areIdle(): boolean {
    return this.living.every((node) => !node.isBusy) && this.#outsiders.every(({ isIdle }) => isIdle);
  }

  get living(): readonly SimNode[] {
    return this.nodes.filter((node) => !node.process.isCrashed);
  }

  #plan(node: SimNode, horizon: number, chance: Chance, clocks: ClockFaults): void {
    const { faultMix, trace, definition, measures, cluster, checker, time } = this.world;
    // A stream of its own: schedules without these events stay as they were.
    const later = chance.beside();
    const befall = (rate: number, action: () => void) => this.#befall(rate, horizon, chance, action);
    const stop = (how: 'freeze' | 'sleep') => () => {
      const length = chance.skewed(50, 3 * definition.duration);
      trace.note(node.name, () => `${how} for ${length.toFixed(0)} ms`);
      node.process[how]();
      time.after(length, () => {
        trace.note(node.name, () => 'resumes');
        node.process.resume();
        if (later.happens(FIRST_LOOKS)) checker.look();
      });
    };
    befall(faultMix.freezes, stop('freeze'));
    // Assumption: within one lease at most one clock loses time. The machine does not sleep while its wall clock is set back.
    const mayBeSetBack = chance.happens(0.5);
    befall(mayBeSetBack ? 0 : faultMix.sleeps, stop('sleep'));
    befall(faultMix.wallJumps, () => node.process.jumpWall(chance.between(mayBeSetBack ? -600_000 : 0, 600_000)));
    this.#befall(faultMix.cuts, horizon, later, () => {
      cluster.cutOff(node.name, later.skewed(50, definition.duration));
      time.after(later.skewed(50, 3 * definition.duration), () => cluster.reconnect(node.name));
    });
    befall(faultMix.crashes, () => {
      trace.note(node.name, () => 'CRASHES');
      node.process.crash();
      if (!chance.happens(measures.comebacks)) return;
      this.boot(`${node.name}'`, horizon, chance.skewed(10, horizon / 4), chance.fork(), clocks);
    });
  }

  /** Within what is assumed: rates are right to half a permille, or as far as the mix says; the wall clock may be anything. */
  #clockFaults(chance: Chance): ClockFaults {
    const { faultMix, tolerance, measures } = this.world;
    // Schedules with leaders last longer than the time from one sample of the members' clocks to the next.
    const within = faultMix.leadership ? Math.max(measures.longest, SAMPLE_INTERVAL) : measures.longest;
    const most = Math.max(5e-4, (faultMix.drift * tolerance) / (2 * within));
    return {
      rate: 1 + chance.between(-most, most),
      monotonic: chance.between(0, 1e9),
      wall: chance.happens(0.8) ? chance.between(-3000, 3000) : chance.between(-1e6, 1e6),
    };
  }

  #befall(rate: number, horizon: number, chance: Chance, action: () => void): void {
    const times = Math.floor(rate) + (chance.happens(rate % 1) ? 1 : 0);
    for (let count = 0; count < times; count++) {
      const left = horizon - this.world.time.now;
      if (left > 0) this.world.time.after(chance.between(0, left), action);
    }
  }
}
