import type { Context } from '../../core/context/context.js';
import { observedSubmit } from '../records/submitting.js';
import type { TaskStore } from '../records/task-store.js';
import { encodeTask } from '../rules/task.codec.js';
import * as transitions from '../rules/transitions.js';
import { hasEnded } from '../rules/transitions.js';
import type { ParsedSchedule } from '../rules/schedule-options.js';
import {
  SCHEDULES,
  type ScheduleRecord,
  UNREADABLE_SCHEDULE,
  decodeSchedule,
  encodeSchedule,
  nameOfKey,
  readableSchedule,
  scheduleKey,
  SCHEDULE_TYPE,
  iso,
  tickId,
} from '../rules/schedule-record.js';

/**
 * ms for which a node may act on a record that it has seen. A task is remembered for at least a minute, so a tick that is
 * pending in the record can't have been forgotten in this time, even if the store is slow to apply the write. A process
 * that was frozen must look again.
 */
const FRESH = 20_000;
/** Records on one page of a list. */
const PAGE = 200;

/** A record, as a node has seen it. */
export interface Seen {
  readonly record: ScheduleRecord;
  readonly text: string;
  /** Answers whether this was too long ago to act on. Does not ask the store. */
  readonly isOld: () => boolean;
}

/** The records of schedules in the store, and the tasks of their ticks. */
export class ScheduleRecords {
  constructor(
    private readonly store: TaskStore,
    private readonly context: Context,
  ) {}

  /** @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
  async find(name: string): Promise<Seen | undefined> {
    const isOld = this.#ageing();
    const text = await this.store.texts.read(scheduleKey(name));
    return text === undefined ? undefined : { record: decodeSchedule(text), text, isOld };
  }

  /** The records of all schedules of the cluster, by name, also of those that can't be read. @throws StoreUnavailableError */
  async list(): Promise<Map<string, ScheduleRecord | typeof UNREADABLE_SCHEDULE>> {
    const records = new Map<string, ScheduleRecord | typeof UNREADABLE_SCHEDULE>();
    const [first, to] = SCHEDULES;
    for (let from = first; ;) {
      const page = await this.store.paced.range(from, to, PAGE);
      for (const { key, text } of page) {
        await this.store.slices.turn();
        records.set(nameOfKey(key), readableSchedule(text) ?? UNREADABLE_SCHEDULE);
      }
      if (page.length < PAGE) return records;
      from = `${page.at(-1)!.text}\0`;
    }
  }

  /**
   * Writes a record by comparison.
   *
   * @returns the record that is there now; undefined if it is gone
   * @throws UnknownOutcomeError, StoreUnavailableError, CorruptRecordError, NewerRecordError
   */
  async write(former: Seen | undefined, record: ScheduleRecord): Promise<Seen | undefined> {
    const isOld = this.#ageing();
    const text = encodeSchedule(record);
    const written = await this.store.texts.write(scheduleKey(record.name), former?.text, text);
    if (written.isWritten) return { record, text, isOld };
    return written.found === undefined
      ? undefined
      : { record: decodeSchedule(written.found), text: written.found, isOld };
  }

  /**
   * Submits the task of a tick, unless the store has it. Again it has no further effect.
   *
   * @param seen a record in which the tick is pending
   * @returns a function that offers the task to the nodes. The sweep does it if it is not called
   * @throws StoreUnavailableError, also if the record was seen too long ago; UnknownOutcomeError
   */
  async submit(
    { name, task }: Pick<ParsedSchedule, 'name' | 'task'>,
    tick: number,
    seen: Seen,
  ): Promise<() => Promise<void>> {
    const submission = { id: tickId(name, tick), type: SCHEDULE_TYPE + name, data: { plannedAt: iso(tick) }, ...task };
    const made = transitions.submit(submission, undefined, await this.store.stamp());
    const { outcome, text } = await observedSubmit(this.context, made, async (traced) => {
      const text = encodeTask(traced);
      const limits = { isLate: seen.isOld, withoutHint: true };
      const { isWritten } = await this.store.texts.write(made.id, undefined, text, limits);
      return { outcome: isWritten ? 'created' : 'known', text };
    });
    return async () => (outcome === 'created' ? this.store.hints.offer(made, text) : undefined);
  }

  /** Whether the run of a tick has ended; also if it is no longer remembered. @throws StoreUnavailableError */
  async isOver(name: string, tick: number): Promise<boolean> {
    const task = await this.store.find(tickId(name, tick));
    return task === undefined || hasEnded(task);
  }

  /** By both clocks: the monotonic one may stand still while the machine sleeps. */
  #ageing(): () => boolean {
    const { nodeClock } = this.context;
    const [monotonic, wall] = [nodeClock.monotonic(), nodeClock.wall()];
    return () => Math.max(nodeClock.monotonic() - monotonic, Math.abs(nodeClock.wall() - wall)) > FRESH;
  }
}
