import type { AllocationGroup } from '../../../lib/allocation/index.js';
import { GatekeeperError } from '../../../lib/core/decision/index.js';
import { Gatekeeper, type GatekeeperEvent, type GatekeeperSettings } from '../../../lib/gatekeeper/index.js';
import '../../support/loaded-code.js';
import type { SimProcess } from '../machines/sim-process.js';
import { FaultyStore } from '../store/faulty-store.js';
import type { Chance } from '../world/chance.js';
import { SHARDS } from '../world/world.js';
import { Application } from './application.js';
import type { Claimant } from './ownership-checker.js';
import { GROUP, OTHER_GROUP, type Scene } from './scene.js';

type Group = GatekeeperSettings['allocation']['groups'][number];

/** The longest `definitionsDelay`, in ms. */
export const LONGEST_DELAY = 1000;

export interface OwnerOptions {
  readonly name: string;
  /** Differs between the processes that ran under one name. */
  readonly instance: string;
  readonly weight: number;
  /** Whether the process has the group. Otherwise it only takes part in the leadership that decides. */
  readonly isMember: boolean;
}

/** One process of an application that takes part in the allocation: the production code in a simulated environment. */
export class OwnerNode implements Claimant {
  readonly gatekeeper: Gatekeeper;
  readonly group: AllocationGroup<string>;
  readonly application: Application;
  readonly name: string;
  readonly instance: string;
  readonly weight: number;
  readonly isMember: boolean;
  isLeaving = false;
  /** Lease with which it began to leave. Where no lease can lapse, it must go on until the application has finished. */
  #leftWith: string | undefined;

  constructor(
    { name, instance, weight, isMember }: OwnerOptions,
    readonly process: SimProcess,
    private readonly scene: Scene,
    private readonly chance: Chance,
  ) {
    this.name = name;
    this.instance = instance;
    this.weight = weight;
    this.isMember = isMember;
    this.application = new Application({
      process,
      chance: chance.fork(),
      handoverTimeout: scene.handoverTimeout,
      isSlow: () => scene.has('longWork'),
      group: () => this.group,
      incarnation: () => this.incarnation,
    });
    this.gatekeeper = this.#create();
    this.group = this.gatekeeper.allocation.group<string>(isMember ? GROUP : OTHER_GROUP);
    this.gatekeeper.events$.subscribe((event) => {
      scene.trace.note(instance, () => describe(event));
      // No fault spoils a text, so a node wrote it like that.
      if (event.type === 'record-unreadable') scene.checker.violated(`A4 ${event.semaphore} can't be read`);
    });
    this.group.owned$.subscribe(() => scene.checker.changed(this));
  }

  get isCrashed(): boolean {
    return this.process.isCrashed;
  }

  get incarnation(): string | undefined {
    return this.gatekeeper.membership.incarnation;
  }

  *owned(): Generator<readonly [string, number]> {
    for (const { id, token } of this.group.owned()) yield [id, token];
  }

  inUse(): Iterable<string> {
    return this.application.inUse(this.incarnation ?? this.#leftWith);
  }

  start(): void {
    this.scene.trace.note(this.instance, () => 'starts');
    const started = this.gatekeeper.start().then(() => this.gatekeeper.allocation.start());
    this.watch('start', started);
    this.#work();
  }

  /** Shuts down as a process that gets SIGTERM, which then ends. */
  leave(): void {
    this.isLeaving = true;
    if (this.scene.isGentle) this.#leftWith = this.incarnation;
    this.scene.trace.note(this.instance, () => 'leaves');
    this.watch(
      'close',
      this.gatekeeper.close().then(() => this.#end()),
    );
  }

  /** Calls may fail under faults, but only in the ways that are documented. */
  watch(what: string, promise: Promise<unknown>): void {
    promise.catch((error: Error) => {
      // A call of a process that shuts down finds its store closed.
      if (error instanceof GatekeeperError || this.isLeaving)
        this.scene.trace.note(this.instance, () => `${what}: ${error.message}`);
      else this.scene.checker.violated(`${this.instance} ${what} failed: ${error.stack}`);
    });
  }

  #work(): void {
    this.process.schedule(
      () => {
        if (this.isLeaving) return;
        this.watch('work', this.application.work());
        this.#work();
      },
      this.chance.skewed(20, 2000),
    );
  }

  /** The deadline of a call that is never answered may still run. */
  #end(): void {
    const { settings, checker, trace } = this.scene;
    trace.note(this.instance, () => 'has closed');
    this.scene.time.after(5 * settings.callTimeout + this.scene.longestWork, () => {
      const left = this.process.timers;
      if (left > 0 && !this.isCrashed) checker.violated(`${this.instance} left ${left} timers after close()`);
      this.process.crash();
    });
  }

  #create(): Gatekeeper {
    const { scene, process, chance, instance, name } = this;
    const client = chance.fork();
    const { time, trace, cluster } = scene;
    const [group] = scene.settings.allocation.groups;
    const settings: GatekeeperSettings = {
      ...scene.settings,
      store: {
        kind: 'simulated',
        open: () => new FaultyStore(cluster, { name: instance, time, process, chance: client, trace }),
      },
      acquirer: name,
      definitionsDelay: chance.whole(100, LONGEST_DELAY),
      sweepInterval: chance.whole(3000, 10_000),
      allocation: { groups: [this.isMember ? this.#member(group!) : { ...group!, name: OTHER_GROUP }] },
    };
    let ids = 0;
    const random = { number: chance.fork().number, id: () => `${instance}.${ids++}`, instance: () => instance };
    return new Gatekeeper(settings, silent, { nodeClock: process, random, shards: SHARDS });
  }

  #member(group: Group): Group {
    const { scene, process, chance, weight, application } = this;
    const resources = () => scene.readResources(process, chance);
    return { ...group, weight, resources, onAllocated: application.onAllocated };
  }
}

const silent = { log() {}, warn() {}, error() {}, debug() {} };

function describe(event: GatekeeperEvent): string {
  const { error, ...rest } = event as { readonly error?: unknown };
  return `* ${JSON.stringify(rest)}${error ? ` ${(error as Error).message}` : ''}`;
}
