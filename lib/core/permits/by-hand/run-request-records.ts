import type { Context } from '../../context/context.js';
import { Cell } from '../../cell/cell.js';
import type { RecordChange } from '../../store/index.js';
import { RunRequestedError } from './by-hand.errors.js';
import {
  REQUEST_LIFETIME,
  RUN_REQUESTS,
  type RunRequest,
  type RunRequestEnd,
  type RunRequestsRecord,
  isOpen,
  nextRecord,
  withRequest,
} from './run-request.js';

/** The requests of one semaphore, with the cluster time of the reading. */
interface RequestsReading {
  readonly now: number;
  readonly requests: readonly RunRequest[];
}

/**
 * The records of run requests, one per semaphore that was ever run by hand. Nothing is read or written for the others.
 * The watch starts with its first listener.
 */
export class RunRequestRecords {
  readonly #listeners = new Set<(change: RecordChange) => void>();
  #watching?: Promise<() => Promise<void>>;

  constructor(private readonly context: Context) {}

  /** The key of a semaphore's requests in the store. */
  static keyOf(semaphore: string): string {
    return RUN_REQUESTS.keyPrefix + semaphore;
  }

  /** Hears of this node's changes, and of those of other nodes as far as hints arrive. @returns a function that ends it */
  listen(listener: (change: RecordChange) => void): () => void {
    this.#listeners.add(listener);
    this.#watching ??= this.#watch();
    return () => void this.#listeners.delete(listener);
  }

  /** Ends the watch. */
  async stop(): Promise<void> {
    const endWatch = await this.#watching;
    await endWatch?.();
  }

  /**
   * Asks for a run of a job.
   *
   * @throws RunRequestedError if a run of the job was asked for, and no node has taken it yet
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  ask(semaphore: string, asked: Pick<RunRequest, 'job' | 'by' | 'reason'>): Promise<RunRequest> {
    const id = this.context.random.id();
    return this.#cell(semaphore).transact<RunRequest>((record, view, nonce) => {
      const requests = record?.requests ?? [];
      const former = requests.find((each) => each.job === asked.job && isOpen(each, view.now));
      if (former) throw new RunRequestedError(semaphore, former.job, former.by);
      const request: RunRequest = { id, ...asked, at: view.now, expiresAt: view.now + REQUEST_LIFETIME };
      const write = nextRecord(record, [...requests, request], view, nonce);
      const done = () => this.#written(semaphore, write, request);
      return { write, done, isDoneIn: (later) => find(later, id) !== undefined };
    });
  }

  /**
   * Takes a request for this node.
   *
   * @returns false if another node has taken it, or it has expired
   * @throws StoreUnavailableError, UnknownOutcomeError; then this node must not run it
   */
  claim(semaphore: string, id: string, token: number): Promise<boolean> {
    const { node } = this.context;
    return this.#change(semaphore, id, (request, now) =>
      isOpen(request, now) ? { ...request, node, token, startedAt: now } : undefined,
    );
  }

  /** Notes the end of a run. @throws StoreUnavailableError, UnknownOutcomeError */
  async end(semaphore: string, id: string, end: RunRequestEnd): Promise<void> {
    await this.#change(semaphore, id, (request) => ({ ...request, ...end }));
  }

  /**
   * Reads the requests of a semaphore. Gives up the one with this id if it has expired: then no node with another view of
   * the time can take it any more.
   *
   * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
   */
  async read(semaphore: string, id?: string): Promise<RequestsReading> {
    return this.#cell(semaphore).transact<RequestsReading>((record, view, nonce) => {
      const { now } = view;
      const requests = record?.requests ?? [];
      const request = find(record, id);
      if (!request || request.node || request.isGivenUp || isOpen(request, now)) return { result: { now, requests } };
      const without = withRequest(requests, { ...request, isGivenUp: true });
      return { write: nextRecord(record, without, view, nonce), done: () => ({ now, requests: without }) };
    });
  }

  /** Decodes a text that a hint brought. @returns undefined if it can't be read, which an event reports */
  decode(semaphore: string, text: string): readonly RunRequest[] {
    try {
      return RUN_REQUESTS.decode(semaphore, text).requests;
    } catch (error) {
      this.#report(semaphore, error as Error);
      return [];
    }
  }

  /** Without the watch, a node looks from time to time at the requests that it waits for, and hears of no others. */
  async #watch(): Promise<() => Promise<void>> {
    const { store, events } = this.context;
    return store.watch(RUN_REQUESTS.keyPrefix, this.#tell).catch((error: unknown) => {
      events.next({ type: 'problem', action: 'watch the run requests', error });
      return async () => undefined;
    });
  }

  #change(
    semaphore: string,
    id: string,
    changed: (request: RunRequest, now: number) => RunRequest | undefined,
  ): Promise<boolean> {
    return this.#cell(semaphore).transact<boolean>((record, view, nonce) => {
      const request = find(record, id);
      const next = request && changed(request, view.now);
      if (!next) return { result: false };
      const write = nextRecord(record, withRequest(record!.requests, next), view, nonce);
      return { write, done: () => this.#written(semaphore, write, true) };
    });
  }

  /** The store need not report a node's own writes to that node. */
  #written<T>(semaphore: string, record: RunRequestsRecord, result: T): T {
    this.#tell({ key: RunRequestRecords.keyOf(semaphore), text: RUN_REQUESTS.encode(record) });
    return result;
  }

  readonly #tell = (change: RecordChange): void => {
    for (const each of this.#listeners) each(change);
  };

  /** A cell per call: it begins with a read, and keeps nothing of a record that is used once in a while. */
  #cell(semaphore: string): Cell<RunRequestsRecord> {
    const cell = new Cell(semaphore, RUN_REQUESTS, this.context);
    cell.listen({ unreadable: (error) => this.#report(semaphore, error) });
    return cell;
  }

  #report(semaphore: string, error: Error): void {
    const key = RunRequestRecords.keyOf(semaphore);
    this.context.events.next({ type: 'record-unreadable', semaphore: key, error });
  }
}

function find(record: RunRequestsRecord | undefined, id: string | undefined): RunRequest | undefined {
  return record?.requests.find((request) => request.id === id);
}
