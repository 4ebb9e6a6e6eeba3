import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ClusterService, GatekeeperService, OnLeadershipGained, type Term } from 'nestjs-gatekeeper';
import { Chance } from '../../../test/simulation/world/chance.js';
import { readSettings } from '../settings.js';
import { Contender } from './contender.js';
import { Diary } from './diary.js';
import { GuardedWriter } from './guarded-writer.js';

const { contention } = readSettings();

/** ms for which a node that gave its term up lets others go first, and a little more. */
const REST = 6500;
/** ms between two looks at the own membership lease. */
const LOOK = 200;

/** Takes part in the leadership of the only scope, and writes while it leads. Tells of the membership, too. */
@Injectable()
export class Leading implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #chance = new Chance(contention!.seed + 2);
  /** The call that waits for a term; undefined while this node leads or rests. */
  #call?: string | undefined;
  #looking?: NodeJS.Timeout;

  constructor(
    private readonly cluster: ClusterService,
    private readonly gatekeeper: GatekeeperService,
    private readonly diary: Diary,
    private readonly writer: GuardedWriter,
    private readonly contender: Contender,
  ) {
    gatekeeper.events$.subscribe((event) => {
      if (event.type === 'member-crashed' || event.type === 'member-left') this.diary.judged(event.incarnation);
    });
  }

  onApplicationBootstrap(): void {
    this.#ask();
    this.#looking = setInterval(() => this.#count(), LOOK);
    this.contender.onWoken(() => this.#count());
  }

  onModuleDestroy(): void {
    clearInterval(this.#looking);
  }

  @OnLeadershipGained()
  async lead(term: Term): Promise<void> {
    this.#ask();
    const { signal, semaphore, slot, token, stored } = term;
    const noted = {
      signal,
      semaphore,
      slot,
      token,
      id: stored.id,
      get remaining() {
        return term.remaining;
      },
      // Both must know at once that the term is over.
      assertHeld: () => (this.cluster.isLeader() ? undefined : term.assertHeld()),
    };
    this.diary.granted(this.#call!, noted);
    this.#call = undefined;
    this.contender.watch(noted);
    while (!signal.aborted) await this.writer.writeFor(this.#chance.skewed(50, 500), term, this.#chance.happens(0.75));
    this.contender.unwatch(noted);
    void this.#askAgain(signal.reason as { readonly reason?: string });
  }

  #ask(): void {
    this.#call ??= this.diary.invoked('acquire', this.#semaphore);
  }

  async #askAgain({ reason }: { readonly reason?: string }): Promise<void> {
    if (reason === 'closing') return;
    if (reason === 'resigned') await pause(REST, undefined, { ref: false });
    if (!this.cluster.isLeader()) this.#ask();
  }

  #count(): void {
    const { incarnation } = this.gatekeeper.membership;
    if (incarnation !== undefined) this.diary.counted(incarnation);
  }

  get #semaphore(): string {
    return `leader:${this.cluster.scopes[0]}`;
  }
}
