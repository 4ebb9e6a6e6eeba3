import { hostname } from 'node:os';
import { type Subscription, distinctUntilChanged, filter, map } from 'rxjs';
import { spreadOf } from '../../core/decision/texts/spread.js';
import { type Context, timeOf } from '../../core/context/context.js';
import { Periodic } from '../../core/async/periodic.js';
import { SerialExecutor } from '../../core/async/serial-executor.js';
import { inSlices } from '../../core/async/slices.js';
import type { Membership } from '../../core/members/membership.js';
import { type LivingNodes, KEY_PREFIX, isAlive, learnTime } from './living-nodes.js';
import { TextCells } from '../../core/cell/text-cells.js';
import { encodeUsed } from '../../core/permits/declared/node-code.js';
import { MOST_TASK_TYPES, type JobInfo, type NodeCard, type NodeInfo, decodeCards, encodeCards } from './node-info.js';
import type { NodeTasks } from '../../tasks/overview/node-tasks.js';

/**
 * Number of texts that contain all entries. So few are quick to read, and two nodes rarely write the same one at once.
 */
const SHARDS = 16;
/** ms until the next try if this node's entry was never written: the first connection may still be under way. */
const FIRST_TRIES = 500;
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
  /** Returns the names that this node has used without a definition in its code. */
  used: () => Iterable<string> = () => [];
  readonly #key: string;
  readonly #texts: TextCells;
  readonly #periodic?: Periodic;
  /** An older entry must not overwrite a newer one. */
  readonly #queue = new SerialExecutor();
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
    private readonly membership: Pick<Membership, 'isHeld' | 'lease' | 'participants$'>,
    private readonly living: LivingNodes,
  ) {
    this.#key = KEY_PREFIX + spreadOf(context.node.instance, SHARDS);
    this.#texts = new TextCells(context.store.records, context, { notify: 'none' });
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

  /** The result of the latest call of {@link nodes}. */
  get known(): readonly NodeInfo[] {
    return this.living.known;
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.living.leftOut.count;
  }

  /**
   * Lists the living nodes, sorted by group and acquirer. This node is among them once it has written its entry, unless
   * its heartbeat is 0.
   *
   * @throws StoreUnavailableError
   */
  nodes(): Promise<NodeInfo[]> {
    return this.living.nodes();
  }

  /** Removes this node's entry. One that never started has none, and need not open the store. */
  async close(): Promise<void> {
    if (!this.#joins) return;
    this.#periodic?.stop();
    this.#joins.unsubscribe();
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
    await learnTime(this.context);
    const at = this.context.nodeClock.monotonic();
    const card = this.#card();
    const content = contentOf(card);
    const isKnown = this.#written?.content === content && at < this.#written.at + REPEAT;
    if (isKnown && this.membership.isHeld) return;
    await this.#write((others) => [...others.filter((other) => isAlive(other, timeOf(this.context))), card]);
    this.#written = { content, at };
  }

  #report(error: unknown): void {
    // During an outage, the parts that need the store report it once.
    if (this.context.store.health().connected)
      this.context.events.next({ type: 'problem', action: 'publish this node', error });
  }

  async #write(next: (others: NodeCard[]) => NodeCard[]): Promise<void> {
    const { node, nodeClock } = this.context;
    await this.#texts.change<void>(this.#key, async (text) => {
      const { nodes, faults } = await inSlices(decodeCards(text), nodeClock);
      // Reported now, because this write removes the invalid entries.
      this.living.leftOut.note(faults);
      const write = encodeCards(next(nodes.filter(({ instance }) => instance !== node.instance)));
      return { write, done: () => undefined };
    });
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
    const used = encodeUsed(this.used());
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
      jobs: [...this.jobs()],
      ...(tasks.length > 0 && { tasks: tasks.slice(0, MOST_TASK_TYPES) }),
      ...(code !== '' && { code }),
      ...(used !== '' && { used }),
    };
  }
}

/** The entry without the fields that are new at each heartbeat. */
function contentOf(card: NodeCard): string {
  return JSON.stringify({ ...card, at: 0, clock: card.clock.suspect });
}
