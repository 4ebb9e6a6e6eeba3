import {
  type HintQueue,
  type OrderedCollection,
  StoreUnavailableError,
  type TextEntry,
  type TextCollection,
  UnknownOutcomeError,
  type WriteOptions,
} from '../../../lib/core/store/index.js';
import type { MemoryCluster } from '../../../lib/stores/memory/memory-cluster.js';
import type { OrderedTable, TextTable } from '../../../lib/stores/memory/text-table.js';
import type { SimProcess } from '../machines/sim-process.js';
import type { TaskTexts } from '../store/faulty-store.js';
import type { StoreCluster } from '../store/store-cluster.js';
import type { Chance } from '../world/chance.js';
import type { Trace } from '../world/trace.js';
import type { VirtualTime } from '../world/virtual-time.js';

/** Tasks that all processes share. */
export type SharedTasks = Pick<MemoryCluster, 'tasks' | 'groups' | 'queue'>;

export interface TaskClient {
  readonly name: string;
  readonly process: SimProcess;
  readonly time: VirtualTime;
  readonly chance: Chance;
  readonly trace: Trace;
  readonly cluster: StoreCluster;
  readonly shared: SharedTasks;
  readonly isCut: () => boolean;
  /** Called after a write was applied. */
  readonly onWrite: (key: string, former: string | undefined, next: string | undefined) => void;
}

/** The description of a write stands in traces. */
type Kind = readonly ['read'] | readonly ['write', description: string];

/** One process's connection to the tasks of a store: every call may be slow, get lost, or come through without an answer. */
export class FaultyTasks implements TaskTexts {
  readonly tasks: OrderedCollection;
  readonly groups: TextCollection;

  constructor(private readonly client: TaskClient) {
    this.tasks = new FaultyOrderedTexts(client, client.shared.tasks);
    this.groups = new FaultyTexts(client, client.shared.groups);
  }

  queue(name: string): HintQueue {
    return new FaultyQueue(this.client, name);
  }
}

class FaultyTexts<Table extends TextTable> implements TextCollection {
  constructor(
    protected readonly client: TaskClient,
    protected readonly table: Table,
  ) {}

  read(key: string): Promise<string | undefined> {
    return call(this.client, ['read'], () => this.table.get(key));
  }

  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return call(this.client, ['read'], () => {
      const found = keys.map((key) => [key, this.table.get(key)] as const);
      return new Map(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
    });
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    { hint }: WriteOptions = {},
  ): Promise<boolean> {
    const lies = this.client.chance.happens(this.client.cluster.faultMix.lie);
    const verb = expected === undefined ? 'create' : next === undefined ? 'remove' : 'replace';
    return call(this.client, ['write', `${verb} ${key}`], () => {
      const isWritten = this.table.compareAndSet(key, expected, next);
      if (isWritten) this.client.onWrite(key, expected, next);
      if (isWritten && hint) addHints(this.client, hint.queue, [hint.hint]);
      return isWritten && !lies;
    });
  }
}

class FaultyOrderedTexts extends FaultyTexts<OrderedTable> implements OrderedCollection {
  range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    return call(this.client, ['read'], () => this.table.range(from, to, limit));
  }
}

/** Hints get lost, come twice, or go to a process that is frozen. */
class FaultyQueue implements HintQueue {
  constructor(
    private readonly client: TaskClient,
    private readonly name: string,
  ) {}

  offer(hints: readonly string[]): Promise<void> {
    return call(this.client, ['write', `offer ${hints.join(' ')}`], () => addHints(this.client, this.name, hints));
  }

  remove(hints: readonly string[]): Promise<void> {
    return call(this.client, ['write', `withdraw ${hints.join(' ')}`], () => this.#shared.remove(hints));
  }

  drain(most: number): Promise<string[]> {
    return call(this.client, ['read'], () => this.#shared.drain(most));
  }

  peek(): Promise<string | undefined> {
    return call(this.client, ['read'], () => this.#shared.peek());
  }

  size(): Promise<number> {
    return call(this.client, ['read'], () => this.#shared.size);
  }

  poll(patience: number, signal: AbortSignal): Promise<string | undefined> {
    const { process } = this.client;
    return new Promise((resolve) => {
      const end = (hint?: string) => {
        cancelTimer();
        stop();
        signal.removeEventListener('abort', giveUp);
        process.io(() => resolve(hint));
      };
      const giveUp = () => end();
      const cancelTimer = process.schedule(giveUp, patience);
      const [first] = this.#shared.drain(1);
      // A member gives no hint to a client whose connection has ended.
      const take = (hint: string) => (process.isCrashed ? this.#shared.offer([hint]) : end(hint));
      const stop = first === undefined ? this.#shared.wait(take) : () => undefined;
      signal.addEventListener('abort', giveUp);
      if (first !== undefined || signal.aborted) end(first);
    });
  }

  get #shared() {
    return this.client.shared.queue(this.name);
  }
}

/** Some get lost, and some come twice. */
function addHints({ chance, cluster, shared }: TaskClient, queue: string, hints: readonly string[]): void {
  for (const hint of hints) {
    const isBad = chance.happens(cluster.faultMix.badNews);
    if (isBad && chance.happens(0.5)) continue;
    shared.queue(queue).offer(isBad ? [hint, hint] : [hint]);
  }
}

function call<T>(client: TaskClient, [kind, description]: Kind, effect: () => T): Promise<T> {
  const { chance, time, process, cluster, trace, name } = client;
  const { lostRequest, lostReply, lateWrite, slow } = cluster.faultMix;
  const isWrite = kind === 'write';
  const outcome = chance.weighted({
    lostRequest,
    lostReply: isWrite ? lostReply : 0,
    lateWrite: isWrite ? lateWrite : 0,
    fine: 1,
  });
  const delay = () => (chance.happens(slow) ? chance.between(50, 1900) : chance.skewed(0.1, 5));
  const late = outcome === 'lateWrite' ? chance.skewed(50, 20_000) : 0;
  return new Promise<T>((resolve, reject) => {
    const fail = (error: Error) => time.after(chance.skewed(1, 1500), () => process.io(() => reject(error)));
    if (outcome !== 'fine' && chance.happens(0.5)) fail(failure(isWrite));
    if (outcome === 'lostRequest') return;
    time.after(delay() + late, () => {
      if (client.isCut()) return;
      if (cluster.isDown) {
        if (chance.happens(0.7)) process.io(() => reject(new StoreUnavailableError('simulated: down')));
        return;
      }
      const result = effect();
      if (isWrite) trace.note(name, () => `${description} arrived (${outcome}): ${String(result).slice(0, 40)}`);
      if (outcome === 'fine') time.after(delay(), () => client.isCut() || process.io(() => resolve(result)));
    });
  });
}

function failure(isWrite: boolean): Error {
  return isWrite
    ? new UnknownOutcomeError('simulated: sent, no answer')
    : new StoreUnavailableError('simulated: no answer');
}
