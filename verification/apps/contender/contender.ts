import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AcquireTimeoutError, GatekeeperService, type Permit } from 'nestjs-gatekeeper';
import { Chance } from '../../../test/simulation/world/chance.js';
import { FreezeWatch } from '../freeze-watch.js';
import { type Contention, readSettings } from '../settings.js';
import { Diary, type NotedPermit } from './diary.js';
import { GuardedWriter } from './guarded-writer.js';

type Contended = Contention['semaphores'][number];

/** A permit that is checked after a freeze. */
type WatchedPermit = NotedPermit & { readonly assertHeld: () => void };

/** ms that one call waits for a permit. */
const PATIENCE = 8000;

/** Works on several semaphores at once, all the time, in ways that chance decides; waits, keeps, refreshes, forgets. */
@Injectable()
export class Contender implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #settings = readSettings();
  readonly #chance = new Chance(this.#settings.contention!.seed);
  readonly #closing = new AbortController();
  /** Held permits with their signals: a read of `permit.signal` would end a permit that is over. */
  readonly #held = new Map<WatchedPermit, AbortSignal>();
  readonly #watch = new FreezeWatch({
    frozen: 300,
    onStalled: (since) => this.diary.stalled(since),
    onWoken: (callback) => this.#woken(callback),
    onTimersOver: (since) => this.#timersOver(since),
  });
  /** Permits of which only the signal is checked after a freeze: asking whether one is held would end it. */
  #untouched: WatchedPermit[] = [];
  #onWoken = () => {};

  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly diary: Diary,
    private readonly writer: GuardedWriter,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { sockets, name, contention } = this.#settings;
    await this.#watch.start({ path: join(sockets!, `${name}.wake`) });
    for (const semaphore of contention!.semaphores) void this.#contend(semaphore, this.#chance.fork());
  }

  onModuleDestroy(): void {
    this.#closing.abort();
    this.#watch.stop();
  }

  /** Checks a permit after a freeze, until {@link unwatch}. */
  watch(permit: WatchedPermit): void {
    this.#held.set(permit, permit.signal);
  }

  unwatch(permit: WatchedPermit): void {
    this.#held.delete(permit);
  }

  /** Calls back in the first step after a freeze. */
  onWoken(callback: () => void): void {
    this.#onWoken = callback;
  }

  async #contend(semaphore: Contended, chance: Chance): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const permit = await this.#acquire(semaphore, chance.happens(0.6));
      if (permit) await this.#use(permit, semaphore, chance);
      await pause(chance.between(10, 200));
    }
  }

  async #acquire({ name, duration, isOnDemand }: Contended, keepAlive: boolean): Promise<Permit | undefined> {
    const call = this.diary.invoked('acquire', name);
    try {
      const options = {
        keepAlive,
        timeout: PATIENCE,
        signal: this.#closing.signal,
        ...(isOnDemand && { duration }),
      };
      const permit = await this.gatekeeper.acquire(name, options);
      this.diary.granted(call, permit);
      return permit;
    } catch (error) {
      if (error instanceof AcquireTimeoutError) this.diary.denied(call, name, error.reason);
      else this.diary.failed(call, name, error);
      return undefined;
    }
  }

  async #use(permit: Permit, { duration }: Contended, chance: Chance): Promise<void> {
    const { signal } = permit;
    this.#held.set(permit, signal);
    const isCareful = chance.happens(0.75);
    const took = permit.keepAlive ? chance.skewed(0.1, 1.8) * duration : chance.between(0.1, 0.9) * duration;
    await this.writer.writeFor(took, permit, isCareful);
    if (!permit.keepAlive && chance.happens(0.4)) await this.#refresh(permit);
    // Not one that is kept alive: it would be held for as long as the process lives.
    const isForgotten = !permit.keepAlive && chance.happens(0.15);
    if (isForgotten) await this.#forget(signal);
    // Before the release: the signal of a permit that is given back does not abort, also if the process freezes meanwhile.
    this.#held.delete(permit);
    if (!isForgotten) await this.#release(permit);
  }

  async #refresh(permit: Permit): Promise<void> {
    const call = this.diary.invoked('refresh', permit.semaphore, permit);
    try {
      if (await this.gatekeeper.refresh(permit)) this.diary.refreshed(call, permit);
      else this.diary.denied(call, permit.semaphore, 'permit-lost');
    } catch (error) {
      this.diary.failed(call, permit.semaphore, error);
    }
  }

  async #release(permit: Permit): Promise<void> {
    const call = this.diary.invoked('release', permit.semaphore, permit);
    try {
      await permit.release();
      this.diary.released(call, permit);
    } catch (error) {
      this.diary.failed(call, permit.semaphore, error);
    }
  }

  /** Neither keeps it nor gives it back: it runs out, and the others have to do without until then. */
  async #forget(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort');
  }

  #woken(callback: 'io' | 'timer'): void {
    this.#onWoken();
    const [touched, untouched] = alternately([...this.#held.keys()]);
    this.#untouched = untouched;
    for (const permit of touched) {
      let threw = false;
      try {
        permit.assertHeld();
      } catch {
        threw = true;
      }
      this.diary.woken(callback, permit, { threw });
    }
  }

  #timersOver(since: number): void {
    for (const permit of this.#untouched) {
      const signal = this.#held.get(permit);
      if (signal) this.diary.woken('after-timers', permit, { aborted: signal.aborted, since });
    }
    this.#untouched = [];
  }
}

function alternately<T>(all: readonly T[]): [T[], T[]] {
  return [all.filter((_, index) => index % 2 === 0), all.filter((_, index) => index % 2 === 1)];
}
