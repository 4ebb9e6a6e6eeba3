import type { ExternalAnswer } from '../../../lib/gatekeeper/index.js';
import { GatekeeperError, type StoredPermit } from '../../../lib/core/decision/index.js';
import type { Chance } from '../world/chance.js';
import { SEMAPHORE, type World, anyDuration } from '../world/world.js';
import type { Machines } from './machines.js';
import type { SimProcess } from './sim-process.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';

/** A permit as the external client counts on it: by its own clock, from the moment at which it asked. */
class Borrowed {
  readonly users = new Set<never>();
  end?: 'released';
  #until: number;

  constructor(
    readonly permit: StoredPermit,
    until: number,
    private readonly process: SimProcess,
  ) {
    this.#until = until;
  }

  get remaining(): number {
    return this.#until - this.process.monotonic();
  }

  renew(until: number): void {
    this.#until = until;
  }
}

/**
 * A program that is no node: it asks one node for a permit, refreshes it through another, and gives it back through a
 * third, or not at all. Requests and answers take their time and may be lost.
 */
export class Outsider {
  readonly #instance: string;
  /** Taken last, and perhaps not yet given back. */
  #borrowed?: Borrowed;
  /** How often it could not tell whether it had given something back. */
  #doubts = 0;
  #isStopped = false;
  /** Draws for giving up and for releases that keep the slot. */
  readonly #later: Chance;

  constructor(
    readonly name: string,
    private readonly process: SimProcess,
    private readonly machines: Machines,
    private readonly world: World,
    private readonly chance: Chance,
  ) {
    this.#instance = `http:${name}`;
    this.#later = chance.beside();
  }

  /** Works until it is stopped and its permit has ended. */
  async work(): Promise<void> {
    while (!this.#isStopped) {
      await this.#pause(this.chance.skewed(...this.world.measures.pauses));
      await this.#once();
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #once(): Promise<void> {
    const borrowed = await this.#take();
    if (!borrowed) return;
    for (let steps = this.chance.whole(0, this.world.measures.steps); steps > 0; steps--) {
      // Sometimes too late. One refreshed after the members' clocks were set back lasts far longer than any work.
      const { longest } = this.world.measures;
      await this.#pause(this.chance.between(0, Math.min(1.2 * borrowed.remaining, longest)));
      await this.#refresh(borrowed);
    }
    if (this.chance.happens(0.7)) await this.#release(borrowed);
  }

  async #take(): Promise<Borrowed | undefined> {
    const { chance, name } = this;
    const wait = chance.happens(0.3) ? chance.whole(0, this.world.measures.patience) : 0;
    const holder = `${name}.${this.#doubts}`;
    const request = { semaphore: SEMAPHORE, instance: this.#instance, holder, acquirer: name, ...this.#duration() };
    const asked = this.process.monotonic();
    const clientAbort = new AbortController();
    const giveUp = this.#later.happens(0.3) ? this.#later.whole(0, this.world.measures.patience) : undefined;
    const cancel =
      giveUp === undefined ? undefined : this.process.schedule(() => clientAbort.abort(), Math.min(giveUp, wait));
    const answer = await this.#ask((gatekeeper) =>
      partsOf(gatekeeper).external.take(request, { wait, signal: clientAbort.signal }),
    );
    cancel?.();
    // An answer that comes after the client ended its connection does not reach it.
    if (clientAbort.signal.aborted) return undefined;
    // Its connection ends before there was an answer.
    if (!answer) clientAbort.abort();
    if (answer?.outcome !== 'granted') return undefined;
    const until = asked + answer.remaining;
    // The answer took longer than the permit lasts: the client does not count on it, and it runs out.
    if (until <= this.process.monotonic()) return undefined;
    return this.#counted(answer.permit, until);
  }

  /** A client that never gave back its last permit is given the same one again, for longer. */
  #counted(permit: StoredPermit, until: number): Borrowed {
    if (this.#borrowed?.permit.id === permit.id) {
      this.#borrowed.renew(until);
      return this.#borrowed;
    }
    this.#borrowed = new Borrowed(permit, until, this.process);
    this.world.checker.granted(SEMAPHORE, this.name, this.process, this.#borrowed);
    return this.#borrowed;
  }

  async #refresh(borrowed: Borrowed): Promise<void> {
    const { id, token } = borrowed.permit;
    const asked = this.process.monotonic();
    const permit = { semaphore: SEMAPHORE, instance: this.#instance, id, token };
    const duration = this.#duration();
    const answer = await this.#ask((gatekeeper) => partsOf(gatekeeper).external.refresh(permit, duration));
    // One that is over stays so, also when the answer comes after its end.
    if (answer?.outcome === 'granted' && borrowed.remaining > 0) borrowed.renew(asked + answer.remaining);
  }

  #duration(): { duration?: number } {
    return this.chance.happens(0.3) ? { duration: anyDuration(this.world, this.chance) } : {};
  }

  async #release(borrowed: Borrowed): Promise<void> {
    // From here on another may have it.
    borrowed.end = 'released';
    const permit = { semaphore: SEMAPHORE, instance: this.#instance, id: borrowed.permit.id };
    const atLeastFor = this.#later.happens(0.3) ? this.#later.whole(0, this.world.measures.longest) : undefined;
    const released = await this.#ask((gatekeeper) =>
      partsOf(gatekeeper).external.release(permit, atLeastFor === undefined ? {} : { atLeastFor }),
    );
    // The request may still be under way: by the same name it would be given what that is about to free.
    if (released === undefined) this.#doubts++;
  }

  /** Asks any node that lives. @returns undefined when it failed as it may, or no answer came */
  async #ask<T extends ExternalAnswer | boolean>(
    call: (gatekeeper: Machines['living'][number]['gatekeeper']) => Promise<T>,
  ): Promise<T | undefined> {
    const { machines, chance, world } = this;
    if (machines.living.length === 0) return undefined;
    const node = chance.pick(machines.living);
    const isLost = {
      request: chance.happens(world.faultMix.lostRequest),
      reply: chance.happens(world.faultMix.lostReply),
    };
    const answer = this.#travel()
      .then(
        () =>
          new Promise<T | undefined>((resolve, reject) => {
            if (isLost.request) return;
            node.process.io(() => call(node.gatekeeper).then(resolve, reject));
          }),
      )
      .catch(expectDocumented)
      .then(async (answered) => {
        world.trace.note(
          this.name,
          () => `${node.name} answers ${JSON.stringify(answered)}${isLost.reply ? ', LOST' : ''}`,
        );
        await this.#travel();
        return isLost.reply ? undefined : answered;
      });
    return Promise.race([answer, this.#pause(2 * world.measures.patience).then(() => undefined)]);
  }

  #travel(): Promise<void> {
    const { chance, world } = this;
    return this.#pause(chance.skewed(0.5, chance.happens(world.faultMix.slow) ? 1900 : 20));
  }

  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => this.process.schedule(resolve, delay));
  }
}

function expectDocumented(error: unknown): undefined {
  if (!(error instanceof GatekeeperError) && (error as Error).name !== 'AbortError') throw error;
}
