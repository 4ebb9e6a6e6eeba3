import { hostname } from 'node:os';
import { type Subscription, distinctUntilChanged, filter, map } from 'rxjs';
import { spreadOf } from '../decision/texts/spread.js';
import { type Context, timeOf } from '../context/context.js';
import { byName } from '../context/node-identity.js';
import { answerWithin } from '../stores/answer-within.js';
import { LeftOut } from '../context/left-out.js';
import { DecodedTexts } from '../records/decoded-texts.js';
import { LIST_FACTOR } from '../records/list-records.js';
import { Periodic } from '../async/periodic.js';
import { SerialQueue } from '../async/serial-queue.js';
import { type Pieces, inSlices } from '../async/slices.js';
import { sortedInPieces } from '../async/sorted.js';
import type { Membership } from './membership.js';
import type { RunHistory } from './run-history.js';
import { decodeCode } from './node-code.js';
import {
  MOST_TASK_TYPES,
  type JobInfo,
  type NodeCard,
  type NodeCode,
  type NodeInfo,
  type NodeTasks,
  decodeCards,
  encodeCards,
} from './node-info.js';

const KEY_PREFIX = 'nodes:';
/**
 * Number of texts that contain all entries. So few are quick to read, and two nodes rarely write the same one at once.
 */
const SHARDS = 16;
/** Attempts of one write while other nodes write the same text. */
const TRIES = 5;
/** ms until the next try if this node's entry was never written: the first connection may still be under way. */
const FIRST_TRIES = 500;
/** A node that misses this many heartbeats counts as dead. */
const SILENCE = 3;
/**
 * ms after which a participant writes an unchanged entry again. Its membership lease says that it lives, so the entry is
 * only written again in case that the store lost it.
 */
const REPEAT = 60_000;

/**
 * The registry of the living nodes and their jobs. Each node writes its own entry at every heartbeat; a participant
 * only if the entry has changed, and once a minute. Operators, warnings and migration plans use the registry; no permit
 * depends on it.
 */
export class NodeRegistry {
  /**
   * Returns the jobs of this node: all its guarded methods. Set by the part that finds them; before that there are
   * none.
   */
  jobs: () => readonly JobInfo[] = () => [];
  /** Returns the work of this node on tasks. */
  tasks: () => readonly NodeTasks[] = () => [];
  /** Returns the definitions in this node's code, as `encodeCode` writes them. */
  code: () => string = () => '';
  readonly #key: string;
  /** The result of the latest call of {@link nodes}. */
  known: readonly NodeInfo[] = [];
  readonly #decoded = new DecodedTexts((_key, text) => entriesOf(text));
  readonly #leftOut: LeftOut;
  readonly #periodic?: Periodic;
  /** An older entry must not overwrite a newer one. */
  readonly #queue = new SerialQueue();
  #joins?: Subscription;
  /** Monotonic ms of {@link start}, which may be long before the store can be asked for the time. */
  #begunAt = 0;
  #startedAt?: number;
  /** The content that was last written, and when (monotonic ms). */
  #written?: { readonly content: string; readonly at: number };

  constructor(
    private readonly context: Context,
    private readonly options: {
      /** ms; 0: this node writes no entry */
      readonly heartbeat: number;
      readonly version?: string | undefined;
      readonly application?: string | undefined;
      /** False if this node writes no runs. */
      readonly history?: unknown;
    },
    private readonly runs: Pick<RunHistory, 'newestHere'>,
    private readonly membership: Pick<Membership, 'isHeld' | 'lease' | 'participants' | 'participants$'>,
  ) {
    this.#leftOut = new LeftOut('read the entries of the nodes', context);
    this.#key = KEY_PREFIX + spreadOf(context.node.instance, SHARDS);
    if (options.heartbeat > 0) this.#periodic = this.#createPeriodic(options.heartbeat);
  }

  /** Begins to publish this node. The gatekeeper calls this when it starts. */
  start(): void {
    if (!this.#periodic) return;
    this.#begunAt = this.context.nodeClock.monotonic();
    this.#periodic.start(0);
    const joined = this.membership.participants$.pipe(
      map(() => this.membership.isHeld),
      distinctUntilChanged(),
      filter((isHeld) => isHeld),
    );
    // Without a lease in its entry, a participant that dies would be listed for three heartbeats.
    this.#joins = joined.subscribe(() => void this.#tell().catch((error: unknown) => this.#report(error)));
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#leftOut.count;
  }

  /**
   * Lists the living nodes, sorted by group and acquirer. This node is among them once it has written its entry, unless
   * its heartbeat is 0.
   *
   * @throws StoreUnavailableError
   */
  async nodes(): Promise<NodeInfo[]> {
    return (await this.living()).map(({ node }) => node);
  }

  /**
   * Reads the definitions in the code of the living nodes. Not whole while an entry can't be read: its node may define any
   * name.
   *
   * @internal
   * @throws StoreUnavailableError
   */
  async codes(): Promise<{ readonly codes: readonly NodeCode[]; readonly isWhole: boolean }> {
    const codes = await this.living();
    return { codes, isWhole: this.#leftOut.count === 0 };
  }

  /**
   * Reads the living nodes, with the definitions in their code.
   *
   * @internal
   * @throws StoreUnavailableError
   */
  async living(): Promise<NodeCode[]> {
    const { store, timers, timing, nodeClock } = this.context;
    await this.#learnTime();
    const patience = LIST_FACTOR * timing.callTimeout;
    const texts = await answerWithin(timers, patience, 'list the nodes', () => store.list(KEY_PREFIX));
    const cards = [...(await inSlices(this.#decoded.all(texts), nodeClock)).values()];
    this.#leftOut.note(cards.flatMap(({ faults }) => faults));
    const isHere = this.#presence();
    const living = cards.flatMap(({ codes }) => codes).filter(({ node }) => this.#isAlive(node) && isHere(node));
    const sorted = await inSlices(
      sortedInPieces(living, (one, other) => byName(one.node, other.node)),
      nodeClock,
    );
    this.known = sorted.map(({ node }) => node);
    return sorted;
  }

  /** Removes this node's entry. */
  async close(): Promise<void> {
    if (!this.#periodic) return;
    this.#periodic.stop();
    this.#joins?.unsubscribe();
    await this.#queue.run(() => this.#write((others) => others)).catch((error: unknown) => this.#report(error));
  }

  #createPeriodic(interval: number): Periodic {
    return new Periodic(this.context.nodeClock, () => this.#tell(), {
      interval: () => (this.#written ? interval : Math.min(interval, FIRST_TRIES)),
      chance: this.context.random.number,
      onError: (error) => this.#report(error),
    });
  }

  #tell(): Promise<void> {
    return this.#queue.run(() => this.#writeOwn());
  }

  async #writeOwn(): Promise<void> {
    await this.#learnTime();
    const at = this.context.nodeClock.monotonic();
    const card = this.#card();
    const content = contentOf(card);
    const isKnown = this.#written?.content === content && at < this.#written.at + REPEAT;
    if (isKnown && this.membership.isHeld) return;
    await this.#write((others) => [...others.filter((other) => this.#isAlive(other)), card]);
    this.#written = { content, at };
  }

  /** A participant that this node sees to be gone is dead, even if its entry is young. */
  #presence(): (card: NodeInfo) => boolean {
    if (!this.membership.isHeld) return () => true;
    const participants = new Set(this.membership.participants().map(({ id }) => id));
    return ({ instance, lease }) => lease === undefined || participants.has(instance);
  }

  #report(error: unknown): void {
    // During an outage, the parts that need the store report it once.
    if (this.context.store.health().connected)
      this.context.events.next({ type: 'problem', action: 'publish this node', error });
  }

  /** The times of entries are cluster time. This node's own clock may be wrong, and would drop living nodes. */
  async #learnTime(): Promise<void> {
    const { clusterClock } = this.context;
    if (!clusterClock.isFresh) await clusterClock.sample();
  }

  #isAlive({ at, heartbeat }: NodeInfo): boolean {
    return timeOf(this.context) - at < SILENCE * Math.max(heartbeat, 1000);
  }

  async #write(next: (others: NodeCard[]) => NodeCard[]): Promise<void> {
    const { store, timers, timing, node, nodeClock } = this.context;
    const ask = <T>(call: () => Promise<T>) =>
      answerWithin(timers, timing.callTimeout, 'write the entry of this node', call);
    for (let tries = 0; tries < TRIES; tries++) {
      const text = await ask(() => store.read(this.#key));
      const { nodes, faults } = await inSlices(decodeCards(text), nodeClock);
      // Reported now, because this write removes the invalid entries.
      this.#leftOut.note(faults);
      const written = encodeCards(next(nodes.filter(({ instance }) => instance !== node.instance)));
      if (await ask(() => store.compareAndSet(this.#key, text, written, { notify: 'none' }))) return;
    }
    throw new Error(`other nodes were faster ${TRIES} times: the next heartbeat tries again`);
  }

  #card(): NodeCard {
    const at = timeOf(this.context);
    const { node, nodeClock, clusterClock } = this.context;
    this.#startedAt ??= Math.round(at - (nodeClock.monotonic() - this.#begunAt));
    const { offset, suspect } = clusterClock.report();
    const { heartbeat, version, application, history } = this.options;
    const { isHeld, lease } = this.membership;
    const tasks = this.tasks();
    const code = this.code();
    return {
      ...node,
      ...(application !== undefined && { application }),
      host: hostname(),
      pid: process.pid,
      ...(version !== undefined && { version }),
      startedAt: this.#startedAt,
      at,
      heartbeat: isHeld ? Math.max(heartbeat, REPEAT) : heartbeat,
      ...(isHeld && { lease }),
      clock: { ...(offset !== undefined && { offset: Math.round(offset) }), ...(suspect !== undefined && { suspect }) },
      ...(history === false && { history }),
      jobs: this.jobs().map((card) => this.#withLastRun(card)),
      ...(tasks.length > 0 && { tasks: tasks.slice(0, MOST_TASK_TYPES) }),
      ...(code !== '' && { code }),
    };
  }

  #withLastRun(card: JobInfo): JobInfo {
    const { job, semaphore } = card;
    const run = semaphore === undefined ? undefined : this.runs.newestHere({ job, semaphore });
    if (!run) return card;
    const { at, took, outcome, message, token, slot, run: number } = run;
    return { ...card, lastRun: { at, took, outcome, message, token, slot, run: number } };
  }
}

/** Keeps the nodes' code apart: their entries are shown to people. */
function* entriesOf(text: string): Pieces<{ readonly codes: NodeCode[]; readonly faults: readonly string[] }> {
  const { nodes, faults } = yield* decodeCards(text);
  const codes: NodeCode[] = [];
  for (const { code = '', ...node } of nodes) {
    codes.push({ node, fingerprintOf: decodeCode(code) });
    yield 1;
  }
  return { codes, faults };
}

/** The entry without the fields that are new at each heartbeat. */
function contentOf(card: NodeCard): string {
  return JSON.stringify({ ...card, at: 0, clock: card.clock.suspect });
}
