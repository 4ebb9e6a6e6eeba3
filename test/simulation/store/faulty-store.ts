import {
  type ClockReading,
  type Driver,
  type HintQueue,
  type Journal,
  type OrderedCollection,
  type RecordChange,
  type RecordCollection,
  type StoreHealth,
  type TextCollection,
  NoQuorumError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from '../../../lib/core/store/index.js';
import { AwaitedKeys } from '../../../lib/core/store/awaited-keys.js';
import type { Chance } from '../world/chance.js';
import type { SimProcess } from '../machines/sim-process.js';
import type { StoreCluster } from './store-cluster.js';
import type { Trace } from '../world/trace.js';
import type { VirtualTime } from '../world/virtual-time.js';

type Outcome = 'fine' | 'lostReply' | 'lateWrite' | 'lostRequest';

export interface ClientEnvironment {
  readonly name: string;
  readonly time: VirtualTime;
  readonly process: SimProcess;
  readonly chance: Chance;
  readonly trace: Trace;
}

/** The part of a driver that keeps tasks. */
export type TaskTexts = Pick<Driver, 'tasks' | 'groups' | 'queue'>;

const absent = (): never => {
  throw new Error('this simulation has no tasks');
};

const NO_TASKS: TaskTexts = {
  get tasks() {
    return absent();
  },
  get groups() {
    return absent();
  },
  queue: absent,
};

/** One process's connection to the cluster: every call may be slow, get lost, or come through without an answer. */
export class FaultyStore implements Driver {
  #isClosed = false;
  /** Nothing goes between this client and the store. */
  #isCut = false;
  #hasNoticedCut = false;
  /** Announcements that got lost. */
  readonly #unheard = new Set<() => void>();
  /** How many members were asked or passed over; which one is the first is left to chance. */
  #turn: number;
  readonly awaited = new AwaitedKeys();
  #watches = new Set<{ prefix: string; onChange: (change: RecordChange) => void }>();

  readonly records: RecordCollection = {
    read: (key) => this.#call('read', () => this.cluster.textsFor(this).get(key)),
    readMany: (keys) =>
      this.#call('readMany', () => {
        const texts = this.cluster.textsFor(this);
        return new Map(keys.flatMap((key) => (texts.has(key) ? [[key, texts.get(key)!] as const] : [])));
      }),
    compareAndSet: (key, expected, next, { notify = 'all' } = {}) => {
      const { faultMix } = this.cluster;
      const { chance } = this.around;
      const lies = chance.happens(faultMix.lie);
      const apply = () => this.cluster.compareAndSet(this, key, expected, next, notify) && !lies;
      const { lostReply, lateWrite } = faultMix;
      const outcome = chance.weighted({ lostReply, lateWrite, fine: 1 - lostReply - lateWrite });
      return this.#call('cas', apply, outcome);
    },
    // Half of the texts on each page.
    page: (prefix, after) =>
      this.#call('page', () => {
        const texts = [...this.cluster.textsFor(this)].filter(([key]) => key.startsWith(prefix));
        const half = Math.ceil(texts.length / 2);
        return after === undefined
          ? { texts: new Map(texts.slice(0, half)), next: String(half) }
          : { texts: new Map(texts.slice(Number(after))) };
      }),
  };

  constructor(
    private readonly cluster: StoreCluster,
    private readonly around: ClientEnvironment,
    private readonly taskTexts: TaskTexts = NO_TASKS,
  ) {
    cluster.join(this);
    this.#turn = around.chance.whole(0, 1);
  }

  get tasks(): OrderedCollection {
    return this.taskTexts.tasks;
  }

  get groups(): TextCollection {
    return this.taskTexts.groups;
  }

  queue(name: string): HintQueue {
    return this.taskTexts.queue(name);
  }

  get name(): string {
    return this.around.name;
  }

  journal(name: string): Journal {
    return {
      append: (texts) => this.#call('append', () => this.cluster.journal(name).append(texts)),
      read: (limit) => this.#call('journal', () => this.cluster.journal(name).read(limit)),
    };
  }

  now(): Promise<ClockReading> {
    const { chance } = this.around;
    // The client asks its members in turn, but other requests of it may come in between.
    const turn = (this.#turn += chance.happens(0.3) ? 2 : 1);
    return this.#call('now', () => this.cluster.readClock(turn));
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    const watch = { prefix, onChange };
    this.#watches.add(watch);
    return async () => void this.#watches.delete(watch);
  }

  /** The others hear of it after a while, or never. */
  awaitChanges(key?: string): () => void {
    const { chance, time } = this.around;
    let isOver = false;
    let end: (() => void) | undefined;
    const announce = () => {
      if (!isOver) end ??= this.awaited.add(key);
    };
    if (chance.happens(this.cluster.faultMix.badNews)) this.#unheard.add(announce);
    else time.after(chance.skewed(0.2, 20), announce);
    return () => {
      isOver = true;
      this.#unheard.delete(announce);
      end?.();
    };
  }

  health(): StoreHealth {
    const connected = !this.cluster.isDown && !this.#hasNoticedCut;
    return { connected, members: connected ? this.cluster.members : 0, quorum: 0 };
  }

  cutOff(): void {
    this.#isCut = true;
  }

  noticeCut(): void {
    this.#hasNoticedCut = this.#isCut;
  }

  /** The faults are over. What got lost is announced again. */
  recover(): void {
    this.reconnect();
    for (const announce of this.#unheard) announce();
  }

  /** As a client does that connects again: anything may have changed. */
  reconnect(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    this.#hasNoticedCut = false;
    this.tell({});
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.cluster.leave(this);
  }

  /** Delivers a hint, which the faults may lose, delay or repeat. */
  tell(change: RecordChange): void {
    const { chance, time } = this.around;
    const isBad = chance.happens(this.cluster.faultMix.badNews);
    if (isBad && chance.happens(0.4)) return;
    time.after(isBad ? chance.skewed(10, 5000) : chance.skewed(0.2, 5), () => this.#deliver(change));
    if (isBad && chance.happens(0.3)) time.after(chance.skewed(10, 5000), () => this.#deliver(change));
  }

  #deliver(change: RecordChange): void {
    if (this.#isCut) return;
    this.around.process.io(() => {
      for (const { prefix, onChange } of this.#watches) {
        if (change.key === undefined || change.key.startsWith(prefix)) onChange(change);
      }
    });
  }

  #call<T>(what: string, effect: () => T, outcome: Outcome = 'fine'): Promise<T> {
    const { process, chance, trace, name } = this.around;
    if (this.#isClosed) throw new Error(`${name} calls ${what} on a closed store`);
    const lost = chance.happens(this.cluster.faultMix.lostRequest);
    const late = outcome === 'lateWrite' ? chance.skewed(50, this.cluster.measures.horizon / 2) : 0;
    const [there, back] = this.#delays();
    return new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void) => this.#later(back, () => this.#isCut || process.io(settle));
      if (lost || outcome !== 'fine') this.#fail(what, lost, reject);
      if (lost) return trace.note(name, () => `${what}: the request is lost`);
      this.#later(there + late, () => {
        if (this.#isCut) return this.#hangUp(what, reject);
        if (this.cluster.isDown)
          return this.#refuse(answer, () => reject(new StoreUnavailableError('simulated: down')));
        const reach = what === 'now' ? 'all' : this.cluster.reachOf(this);
        if (reach === 'nothing')
          return this.#refuse(answer, () => reject(new StoreUnavailableError('simulated: split')));
        if (reach === 'no-quorum') return answer(() => reject(new NoQuorumError('simulated: the minority')));
        const result = effect();
        trace.note(name, () => `${what} arrived (${outcome}): ${show(result)}`);
        if (reach === 'unconfirmed' && what === 'cas') {
          this.#refuse(answer, () => reject(new UnknownOutcomeError('simulated: no backup confirmed it')));
        } else if (outcome === 'fine') answer(() => resolve(result));
      });
    });
  }

  /** No answer at all, or word that there will be none. */
  #fail(what: string, isLost: boolean, reject: (error: Error) => void): void {
    const { chance, time, process } = this.around;
    const wait = chance.skewed(1, 1500);
    if (chance.happens(0.5)) return;
    const error =
      what !== 'cas' || (isLost && chance.happens(0.5))
        ? new StoreUnavailableError('simulated: not sent')
        : new UnknownOutcomeError('simulated: sent, no answer');
    time.after(wait, () => process.io(() => reject(error)));
  }

  /** The request does not arrive, which the client learns at once if it knows that it is cut off, or never. */
  #hangUp(what: string, reject: (error: Error) => void): void {
    this.around.trace.note(this.name, () => `${what}: cut off`);
    if (!this.#hasNoticedCut) return;
    this.around.process.io(() => reject(new StoreUnavailableError('simulated: cut off')));
  }

  /** Mostly; some calls hang. */
  #refuse(answer: (settle: () => void) => void, refuse: () => void): void {
    if (this.around.chance.happens(0.7)) answer(refuse);
  }

  /** There and back. Usually one of the two takes all the time: callers see no difference, and it saves an event. */
  #delays(): [number, number] {
    const { chance } = this.around;
    const kind = chance.number();
    return [kind < 0.4 ? 0 : this.#delay(), kind > 0.6 ? 0 : this.#delay()];
  }

  #delay(): number {
    const { chance } = this.around;
    return chance.happens(this.cluster.faultMix.slow) ? chance.between(50, 1900) : chance.skewed(0.1, 5);
  }

  #later(delay: number, action: () => void): void {
    if (delay > 0) this.around.time.after(delay, action);
    else action();
  }
}

function show(result: unknown): string {
  if (result instanceof Map) return `${result.size} texts`;
  const text = typeof result === 'object' ? JSON.stringify(result) : String(result);
  return text.length > 24 ? `${text.slice(0, 60)}…` : text;
}
