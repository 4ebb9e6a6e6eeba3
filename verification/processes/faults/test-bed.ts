import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HazelcastMember } from 'nestjs-gatekeeper/testing';
import { sharedNow } from '../../apps/say.js';
import { ownerSemaphore } from '../../apps/settings.js';
import { GuardedResource } from '../cluster/guarded-resource.js';
import { eventually } from '../../../test/contract/eventually.js';
import type { Chance } from '../../../test/simulation/world/chance.js';
import { Client } from './client.js';
import { CALM, isSettled } from './convergence.js';
import { Recorder } from './recorder.js';
import type { FaultSite } from './fault-site.js';
import { ServerSite } from './server-site.js';
import { Site } from './site.js';

/** Semaphores of all contenders. Their names begin with the fault.s: each fault has a history of its own. */
const SEMAPHORES = [
  { name: 'solo', permits: 1, duration: 2000 },
  { name: 'long', permits: 1, duration: 5000 },
  { name: 'trio', permits: 3, duration: 3000 },
  { name: 'job', permits: 1, duration: 3000 },
  { name: 'order', permits: 1, duration: 2000, isOnDemand: true },
] as const;

export type SemaphoreName = (typeof SEMAPHORES)[number]['name'];

/** Ids of what is divided over the clients. */
const RESOURCES = Array.from({ length: 24 }, (_, index) => `r${String(index).padStart(2, '0')}`);

/** ms: the lease of the leader, and of each membership. */
export const LEASE = 3000;

export const CLIENTS = 4;
export const CLOCK_TOLERANCE = 500;

/** One of them, with its full name. */
export interface Contended {
  readonly name: string;
  readonly permits: number;
  readonly duration: number;
  /** Whether no code defines it: each call asks for the duration. */
  readonly isOnDemand?: boolean;
}

export interface TestBedOptions {
  readonly fault: string;
  /** Whether the fault loses data: a name on demand is not granted for 15 minutes after that. */
  readonly losesData: boolean;
  readonly seed: number;
  readonly clientClocks: boolean;
  /** A deliberate mistake of all clients: ms for which they count on resources after their membership lease. */
  readonly overstay?: number | undefined;
}

/** Everything that takes part while one fault is injected: members, contenders, the guarded resource, the history. */
export class TestBed implements AsyncDisposable {
  readonly recorder = new Recorder();
  readonly clients: Client[] = [];
  /** Broken promises that a fault action found itself. */
  readonly complaints: string[] = [];
  #resource!: GuardedResource;

  private constructor(
    readonly site: FaultSite,
    private readonly options: TestBedOptions,
  ) {}

  /** @returns after each semaphore was granted once, a client leads, and each resource has an owner */
  static async open(site: FaultSite, options: TestBedOptions): Promise<TestBed> {
    const testBed = new TestBed(site, options);
    try {
      await testBed.#start();
    } catch (error) {
      await testBed[Symbol.asyncDispose]();
      throw error;
    }
    return testBed;
  }

  get semaphores(): Contended[] {
    return SEMAPHORES.map((semaphore) => ({ ...semaphore, name: `${this.options.fault}-${semaphore.name}` }));
  }

  /** The scope in which all clients take part. */
  get scope(): string {
    return `${this.options.fault}-scope`;
  }

  /** The semaphore of the scope. */
  get leadership(): Contended {
    return { name: `leader:${this.scope}`, permits: 1, duration: LEASE };
  }

  /** Semaphores of the resources: the owner of a resource holds one. */
  get owners(): string[] {
    return RESOURCES.map(ownerSemaphore);
  }

  /** Those that code defines. */
  get defined(): Contended[] {
    return this.semaphores.filter(({ isOnDemand }) => !isOnDemand);
  }

  /** Those that must be granted again soon after the fault. */
  get recovering(): Contended[] {
    return this.options.losesData ? this.defined : this.semaphores;
  }

  semaphore(name: SemaphoreName): Contended {
    return this.semaphores[SEMAPHORES.findIndex((each) => each.name === name)]!;
  }

  /** Waits until a client surely leads. */
  leader(): Promise<Client> {
    return this.#holderOf(this.leadership);
  }

  get members(): readonly HazelcastMember[] {
    return this.hazelcast.cluster.members;
  }

  /** The site, for faults of members. */
  get hazelcast(): Site {
    if (this.site instanceof Site) return this.site;
    throw new Error(`${this.options.fault} is a fault of members: plan.ts must not run it on a server`);
  }

  /** The site, for faults of a server. */
  get server(): ServerSite {
    if (this.site instanceof ServerSite) return this.site;
    throw new Error(`${this.options.fault} is a fault of a server: plan.ts must not run it on members`);
  }

  /** Waits until a client surely holds one of the semaphores, picked by chance. */
  async holder(chance: Chance, among = this.semaphores): Promise<{ client: Client; semaphore: Contended }> {
    const semaphore = chance.pick(among);
    return { client: await this.#holderOf(semaphore), semaphore };
  }

  async #holderOf({ name: semaphore }: Contended): Promise<Client> {
    const find = () => {
      const names = new Set(this.recorder.holders(semaphore).map(({ process }) => process));
      return this.clients.find(({ name, isRunning }) => isRunning && names.has(name)) ?? false;
    };
    return (await eventually(`a client holds ${semaphore}`, find, 20_000)) as Client;
  }

  /** Waits for a grant of each of these that comes after now. @returns ms that the slowest took */
  async grantsOf(semaphores: readonly Contended[], within: number): Promise<number> {
    const since = sharedNow();
    const missing = () => semaphores.filter(({ name }) => this.recorder.grants(name, since).length === 0);
    await eventually('each semaphore is granted again', () => missing().length === 0, within).catch(() => {
      const names = missing().map(({ name }) => name);
      this.complaints.push(`liveness: no grant of ${names.join(', ')} within ${within} ms after ${this.options.fault}`);
    });
    return sharedNow() - since;
  }

  /** Records that the injection of a fault has ended. */
  allWell(): void {
    const processes = this.#running.map(({ name }) => name);
    this.recorder.outside('controller', { event: 'all-well', processes });
  }

  /** Waits until each resource has an owner and all clients have even shares, for a while. */
  async settled(within: number): Promise<void> {
    let since: number | undefined;
    const isCalm = () => {
      const processes = this.#running.map(({ name }) => name);
      since = isSettled(this.recorder, this.owners, processes) ? (since ?? sharedNow()) : undefined;
      return since !== undefined && sharedNow() - since >= CALM;
    };
    await eventually('each resource has an owner and all clients have even shares', isCalm, within + CALM);
  }

  get #running(): Client[] {
    return this.clients.filter(({ isRunning }) => isRunning);
  }

  /** Records the limit that is in force from now on. */
  limited(semaphore: Contended, permits: number): void {
    this.recorder.outside('controller', { event: 'limited', semaphore: semaphore.name, permits });
  }

  /** Ends the contenders, and records the writes that the resource saw. */
  async finish(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.kill()));
    await this[Symbol.asyncDispose]();
    this.recorder.written(this.#resource.writes);
    this.complaints.push(...this.clients.flatMap(({ faults }) => faults));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.clients.map((client) => client[Symbol.asyncDispose]()));
    await this.#resource?.[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    const { fault, seed, clientClocks, overstay } = this.options;
    const { network, options } = this.site;
    const sockets = join(options.folder, fault);
    await mkdir(sockets, { recursive: true });
    const resource = join(sockets, 'resource');
    this.#resource = await GuardedResource.start({ path: resource });
    for (const semaphore of [...this.semaphores, this.leadership]) this.limited(semaphore, semaphore.permits);
    for (const semaphore of this.owners)
      this.recorder.outside('controller', { event: 'limited', semaphore, permits: 1 });
    const job = this.semaphore('job').name;
    const common = {
      semaphores: this.semaphores.filter(({ name }) => name !== job),
      job,
      group: { name: `${fault}-group`, resources: RESOURCES },
      ...(overstay !== undefined && { overstay }),
    };
    for (let index = 1; index <= CLIENTS; index++) {
      const contention = { seed: seed + index, ...common };
      const settings = {
        ...this.site.settings(index),
        jobs: ['contender' as const],
        resource,
        sockets,
        contention,
        options: {
          definitions: this.defined.map(definitionOf),
          clockTolerance: CLOCK_TOLERANCE,
          membership: { lease: LEASE },
          leadership: { enabled: true, scopes: [this.scope], lease: LEASE },
        },
      };
      const place = await network.place(`client${index}`);
      this.clients.push(new Client(`c${index}`, { place, settings, recorder: this.recorder, clock: clientClocks }));
    }
    await Promise.all(this.clients.map((client) => client.start()));
    // A term goes on as long as its process lives, so it may have begun before.
    await Promise.all([this.grantsOf(this.semaphores, 20_000), this.leader(), this.settled(30_000)]);
  }
}

function definitionOf({ name, permits, duration }: Contended) {
  return { name, permits, duration };
}
