import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  type AllocationChange,
  type AllocationGroup,
  AllocationService,
  GatekeeperService,
  type Ownership,
} from 'nestjs-gatekeeper';
import { Chance } from '../../../test/simulation/world/chance.js';
import { sharedNow } from '../say.js';
import { ownerSemaphore, readSettings } from '../settings.js';
import { Contender } from './contender.js';
import { Diary } from './diary.js';
import { GuardedWriter } from './guarded-writer.js';

const { contention } = readSettings();

/** ms between two writes to one resource. */
const WRITE_EVERY = 400;
/** ms between two looks at the own membership lease. */
const LOOK = 100;
/** ms by which two readings of the end of one lease may differ. */
const PRECISION = 20;

/** A resource on which this process works. Others may not have it before the end of the work, or of the lease. */
interface Claim {
  readonly semaphore: string;
  readonly id: string;
  readonly slot: number;
  readonly token: number;
  /** Membership lease that it rests on. */
  readonly incarnation: string;
  /** Aborts when the work must end. */
  readonly signal: AbortSignal;
  readonly remaining: number;
}

/** Work that goes on. */
interface Work {
  readonly ending: AbortController;
  readonly done: Promise<unknown>;
}

/** Takes part in the only allocation group, and works on each resource for as long as it owns it. */
@Injectable()
export class Owning implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #chance = new Chance(contention!.seed + 3);
  readonly #claims = new Set<Claim>();
  /** By resource. */
  readonly #works = new Map<string, Work>();
  #group!: AllocationGroup<string>;
  #looking?: NodeJS.Timeout;
  /** End of the lease at the last look, by the shared clock. */
  #until = 0;

  constructor(
    private readonly allocation: AllocationService,
    private readonly gatekeeper: GatekeeperService,
    private readonly diary: Diary,
    private readonly writer: GuardedWriter,
    private readonly contender: Contender,
  ) {}

  onApplicationBootstrap(): void {
    const { name, resources } = contention!.group;
    this.#group = this.allocation.group<string>(name, {
      resources: () => resources,
      id: (id) => id,
      onAllocated: (_owned, change) => this.#begin(change),
    });
    this.#looking = setInterval(() => this.#look(), LOOK);
    // Comes with each heartbeat, just before the lease counts as renewed. A freeze may follow at once.
    this.gatekeeper.membership.changes.subscribe(() => setImmediate(() => this.#look()));
  }

  onApplicationShutdown(): void {
    clearInterval(this.#looking);
  }

  /** Work on revoked resources ends by its signal. The group waits for it. */
  #begin({ added }: AllocationChange): void {
    for (const { id } of added) {
      const former = this.#works.get(id);
      const ending = new AbortController();
      this.#works.set(id, { ending, done: this.#workOn(id, ending.signal, former) });
    }
  }

  /** A resource that goes on with a new token has work with the old one. */
  async #workOn(id: string, ending: AbortSignal, former?: Work): Promise<void> {
    former?.ending.abort();
    await former?.done;
    await this.#group.run(id, (ownership) => this.#use(ownership, ending));
  }

  async #use(ownership: Ownership, ending: AbortSignal): Promise<void> {
    // The getter would abort it: only the group itself may.
    const { signal } = ownership;
    const { incarnation } = this.gatekeeper.membership;
    if (signal.aborted || incarnation === undefined) return;
    const claim = this.#claim(ownership, signal, incarnation);
    const watched = { ...claim, assertHeld: () => ownership.assertOwned() };
    this.contender.watch(watched);
    signal.addEventListener('abort', () => this.#look());
    const over = AbortSignal.any([signal, ending]);
    while (!over.aborted) {
      await this.writer.write(claim);
      await pause(WRITE_EVERY, undefined, { signal: over }).catch(() => {});
    }
    this.contender.unwatch(watched);
    await this.#stop(claim);
  }

  #claim({ resource, token }: Ownership, signal: AbortSignal, incarnation: string): Claim {
    const { membership } = this.gatekeeper;
    const claim: Claim = {
      semaphore: ownerSemaphore(resource),
      id: `${incarnation}:${resource}:${token}`,
      slot: 0,
      token,
      incarnation,
      signal,
      get remaining() {
        return membership.remaining + (contention!.overstay ?? 0);
      },
    };
    this.#claims.add(claim);
    this.diary.claimed(claim);
    return claim;
  }

  /** Some work needs a last write, even if another process owns the resource by then. */
  async #stop(claim: Claim): Promise<void> {
    if (this.#chance.happens(0.3)) {
      await pause(this.#chance.between(0, 300));
      await this.writer.write(claim);
    }
    this.#look();
    // A lapsed claim has ended before.
    if (!this.#claims.delete(claim)) return;
    const call = this.diary.invoked('release', claim.semaphore, claim);
    this.diary.released(call, claim);
  }

  #look(): void {
    const { incarnation, remaining } = this.gatekeeper.membership;
    const until = sharedNow() + remaining;
    const isRenewed = until > this.#until + PRECISION;
    if (isRenewed) this.#until = until;
    for (const claim of this.#claims) {
      const isOfNow = claim.incarnation === incarnation;
      if (isOfNow && isRenewed) this.diary.renewed(claim);
      // A lease that lapsed without an abort is a fault, which the history must show.
      if (isOfNow || !claim.signal.aborted) continue;
      this.#claims.delete(claim);
      this.diary.lapsed(claim);
    }
  }
}
