import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  ClusterSingleton,
  type GatekeeperEvent,
  GatekeeperService,
  type RunPermit,
  currentPermit,
} from 'nestjs-gatekeeper';
import { Chance } from '../../../test/simulation/world/chance.js';
import { readSettings } from '../settings.js';
import { Diary, type NotedPermit } from './diary.js';
import { GuardedWriter } from './guarded-writer.js';

const { contention } = readSettings();
const JOB = contention?.job ?? 'none';

/** A guarded method that is called each half second. Some runs take longer than their permit lasts. */
@Injectable()
export class ContenderJob {
  readonly #chance = new Chance(contention!.seed + 1);
  #isRunning = false;
  #call = '';
  #permit?: NotedPermit;
  /** Events of the run that goes on: they carry the id of its permit and the reason of a skip, which the run does not get. */
  #current = { id: '', skipped: '', isReleased: false };

  constructor(
    gatekeeper: GatekeeperService,
    private readonly diary: Diary,
    private readonly writer: GuardedWriter,
  ) {
    gatekeeper.events$.subscribe((event) => this.#listen(event));
  }

  @Interval(500)
  async tick(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#current = { id: '', skipped: '', isReleased: false };
    this.#permit = undefined;
    this.#call = this.diary.invoked('acquire', JOB);
    await this.run();
    this.#reportOutcome();
    this.#isRunning = false;
  }

  @ClusterSingleton(() => JOB, undefined, { atLeastFor: 0 })
  async run(): Promise<void> {
    const permit = currentPermit();
    this.#permit = noted(permit, this.#current.id);
    this.diary.granted(this.#call, this.#permit);
    await this.writer.writeFor(this.#chance.skewed(50, 4000), permit, this.#chance.happens(0.75));
    // The run's end gives the permit back.
    this.#call = this.diary.invoked('release', JOB, this.#permit);
  }

  #reportOutcome(): void {
    const { skipped, isReleased } = this.#current;
    if (!this.#permit) this.diary.denied(this.#call, JOB, skipped);
    else if (isReleased) this.diary.released(this.#call, this.#permit);
    else this.diary.failed(this.#call, JOB, 'the release was not confirmed');
  }

  #listen(event: GatekeeperEvent): void {
    if (!('semaphore' in event) || event.semaphore !== JOB) return;
    if (event.type === 'granted') this.#current.id = event.permit.id;
    if (event.type === 'run-skipped') this.#current.skipped = event.reason;
    if (event.type === 'released' && event.permit.id === this.#current.id) this.#current.isReleased = true;
  }
}

function noted(permit: RunPermit, id: string): NotedPermit {
  const { semaphore, slot, token, signal } = permit;
  return {
    semaphore,
    slot,
    token,
    signal,
    id,
    get remaining() {
      return permit.remaining;
    },
  };
}
