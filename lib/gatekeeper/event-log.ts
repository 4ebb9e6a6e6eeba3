import { SHARD_PREFIX, escapeHidden, messageWithCauses, quoted, safeJson, word } from '../core/decision/index.js';
import { isStoreError } from '../core/store/index.js';
import { jobKey } from '../operate/activity/history-entry.js';
import type { NodeClock } from '../core/async/node-clock.js';
import type { AuditEntry } from '../core/context/answers.js';
import type { GatekeeperLogger, LogLine } from '../core/context/context.js';
import type { EventOf, GatekeeperEvent } from '../core/context/events.js';
import { LOSS_WORDS } from '../core/context/loss-words.js';
import type { Participant } from '../core/context/participant.js';
import { skipSentence } from '../core/permits/runs/run-skipped.error.js';
import type { LogFields } from './log-fields.js';

/** Number of jobs and semaphores whose last line is kept, to limit the memory. Others may repeat a line. */
const MOST_REMEMBERED = 1000;

/** ms for which shards that are restored belong to one loss: a node restores all of them at the same time. */
const ONE_LOSS = 60_000;

/** ms in which no line is written twice: a job may be called many times a second. */
const ONE_LINE = 1000;

/** Events of normal operation, which are never logged: once per keep-alive, or twice per run. */
const SILENT: ReadonlySet<GatekeeperEvent['type']> = new Set(['refreshed', 'released', 'run-started', 'task-started']);

/**
 * Writes events to the application's log. An event that may occur at each tick of a job is a debug line. It is only
 * logged if it differs from the last one of the same job or semaphore, because all nodes except one skip each tick. Each
 * run that fails or loses its permit has a line with the name of its job. No line is written twice within a second.
 */
export class EventLog {
  readonly #last = new Map<string, string>();
  /** Lines of the last second, with the times at which they were written (monotonic ms); the oldest first. */
  readonly #written = new Map<string, number>();
  /** Jobs whose runs go on, by the ids of their permits: the loss of a permit does not name the job. */
  readonly #running = new Map<string, string[]>();
  /** When shards were reported as restored (monotonic ms). */
  #shardsRestoredAt = -Infinity;

  /** @param fields makes entries with fields; default: lines of text */
  constructor(
    private readonly logger: GatekeeperLogger,
    private readonly clock: Pick<NodeClock, 'monotonic'>,
    private readonly fields?: LogFields,
  ) {}

  note(event: GatekeeperEvent): void {
    this.#follow(event);
    if (SILENT.has(event.type)) return;
    const tick = tickOf(event);
    // A loss or a failure is always logged. It also changes the state, so the next event is logged too.
    if (tick && !this.#isNew(tick) && !isTrouble(event)) return;
    const logger = this.#once(this.fields?.over(this.logger, event) ?? this.logger);
    if (event.type === 'restored' && event.semaphore.startsWith(SHARD_PREFIX)) this.#noteShard(event.semaphore, logger);
    else if (event.type === 'lost') logger.warn(lostLine(event, this.#running.get(event.permit.id)));
    else logEvent(event, logger);
  }

  #follow(event: GatekeeperEvent): void {
    if (event.type !== 'run-started' && event.type !== 'run-finished') return;
    const { permit, job } = event;
    if (!permit) return;
    const jobs = this.#running.get(permit.id) ?? [];
    const others =
      event.type === 'run-started' ? [...jobs, job] : jobs.toSpliced(jobs.indexOf(job), jobs.includes(job) ? 1 : 0);
    if (others.length > 0) this.#running.set(permit.id, others);
    else this.#running.delete(permit.id);
  }

  /** A logger that leaves out lines of the last second. */
  #once(logger: GatekeeperLogger): GatekeeperLogger {
    const unlessWritten = (level: keyof GatekeeperLogger) => (line: LogLine) => {
      if (this.#isFresh(`${level} ${String(line)}`)) logger[level](line);
    };
    return {
      log: unlessWritten('log'),
      warn: unlessWritten('warn'),
      error: unlessWritten('error'),
      debug: unlessWritten('debug'),
    };
  }

  #isFresh(line: string): boolean {
    const now = this.clock.monotonic();
    for (const [other, at] of this.#written) {
      if (now - at < ONE_LINE && this.#written.size <= MOST_REMEMBERED) break;
      this.#written.delete(other);
    }
    if (this.#written.has(line)) return false;
    this.#written.set(line, now);
    return true;
  }

  /** Each restart of a Redis marks all 512 shards: one line is enough. */
  #noteShard(shard: string, logger: GatekeeperLogger): void {
    const now = this.clock.monotonic();
    if (now - this.#shardsRestoredAt < ONE_LOSS) return;
    this.#shardsRestoredAt = now;
    logger.warn(
      `names on demand: the store had lost their records, or may have; restored with a grace, ${quoted(shard)} first`,
    );
  }

  #isNew({ of, state }: Tick): boolean {
    if (this.#last.get(of) === state) return false;
    this.#last.delete(of); // so that it stands last
    this.#last.set(of, state);
    if (this.#last.size > MOST_REMEMBERED) this.#last.delete(this.#last.keys().next().value!);
    return true;
  }
}

interface Tick {
  /** The job or semaphore. */
  readonly of: string;
  readonly state: string;
}

/**
 * The job or semaphore of an event, and its state after the event. Undefined for an event that does not occur per tick.
 */
function tickOf(event: GatekeeperEvent): Tick | undefined {
  switch (event.type) {
    case 'granted':
    case 'lost':
      return { of: event.semaphore, state: event.type };
    case 'denied':
      return { of: event.semaphore, state: event.reason };
    case 'run-skipped':
      return { of: jobKey(event), state: event.reason };
    case 'run-finished':
      return { of: jobKey(event), state: 'error' in event ? messageWithCauses(event.error) : 'ran' };
    default:
      return undefined;
  }
}

/** Whether an event is the failure of a run, or the loss of its permit. */
function isTrouble(event: GatekeeperEvent): boolean {
  return event.type === 'lost' || (event.type === 'run-finished' && ('error' in event || event.loss !== undefined));
}

/** @param jobs that run under the permit; undefined if the application holds it itself */
function lostLine({ semaphore, permit, reason }: EventOf<'lost'>, jobs: readonly string[] | undefined): string {
  const who = jobs
    ? `${[...new Set(jobs)].map((job) => word(job)).join(', ')} lost ${jobs.length > 1 ? 'their' : 'its'} permit`
    : `slot ${permit.slot} was lost while it was in use`;
  return `${quoted(semaphore)}: ${who}: ${LOSS_WORDS[reason]}`;
}

/** The loss of the permit has its own line, so the end after it is a warning, and no second error. */
function logRun(event: EventOf<'run-finished'>, name: string, logger: GatekeeperLogger): void {
  const { job, loss } = event;
  const failure = 'error' in event ? `: ${messageWithCauses(event.error)}` : '';
  if (loss) logger.warn(`${name}: ${word(job)} ${failure ? 'failed' : 'ended'} without its permit${failure}`);
  else if (failure) logger.error(`${name}: ${word(job)} failed${failure}`);
  else logger.debug(`${name}: ${word(job)} ran`);
}

function logEvent(event: GatekeeperEvent, logger: GatekeeperLogger): void {
  const name = 'semaphore' in event && event.semaphore !== undefined ? quoted(event.semaphore) : '';
  switch (event.type) {
    case 'granted':
      return logger.debug(`${name}: got slot ${event.permit.slot}, token ${event.permit.token}`);
    case 'expired':
      return logger.debug(
        `${name}: ${event.permits.map((each) => `slot ${each.slot} of ${word(each.acquirer)}`).join(', ')} expired`,
      );
    case 'denied':
      return logger.debug(`${name}: denied (${event.reason})`);
    case 'run-skipped':
      if (event.reason === 'own-run')
        return logger.warn(`${word(event.job)} did not run: ${skipSentence(event.reason, event.semaphore)}`);
      return logger.debug(`${name}: skipped ${word(event.job)} (${event.reason})`);
    case 'run-finished':
      return logRun(event, name, logger);
    case 'run-attempt-failed':
      return logger.warn(
        `${name}: attempt ${event.attempt} of ${event.attempts} of ${word(event.job)} failed, the next begins in ` +
          `${event.pause} ms: ${messageWithCauses(event.error)}`,
      );
    case 'audited':
      return logger.log(auditLine(event.entry));
    case 'run-unguarded':
      return logger.warn(
        `${name}: ${word(event.job)} runs WITHOUT a permit (${event.reason}), as onUnavailable: 'run' says`,
      );
    case 'restored':
      return logger.warn(
        `${name}: the store had lost its record, or may have; restored revision ${event.revision} with a grace`,
      );
    case 'reinstated':
      return logger.log(`${name}: revision ${event.revision} restored from the archive`);
    case 'record-unreadable':
      return logger.error(event.error.message);
    case 'leadership-gained':
      return logger.log(`${name}: this node leads now, token ${event.token}`);
    case 'leadership-lost':
      return logger.log(`${name}: this node does not lead any more (${event.reason})`);
    case 'allocation-changed':
      return logger.log(`group ${quoted(event.group)}: ${event.revoked} resources revoked, ${event.granted} granted`);
    case 'resources-changed':
      return logger.log(
        `group ${quoted(event.group)}: this node owns ${event.owned} resources (${event.added} added, ${event.revoked} revoked)`,
      );
    case 'definitions-differ':
    case 'code-not-followed':
    case 'resources-unowned':
    case 'tasks-untaken':
    case 'schedule-differs':
    case 'ticks-missed':
    case 'schedule-silent':
    case 'other-application':
    case 'job-warning':
    case 'no-leader':
      return logger.warn(event.sentence);
    case 'member-crashed':
      return logger.warn(`${memberName(event.member)} crashed or is cut off: it did not renew its membership lease`);
    case 'membership-lost':
      return logger.warn(
        'this node could not renew its membership lease in time: the other nodes may count it as crashed',
      );
    case 'member-joined':
    case 'member-left':
    case 'member-rejoined':
      return logger.debug(`${memberName(event.member)} ${event.type.slice('member-'.length)}`);
    case 'tasks-removed-early':
      return logger.warn(
        `${event.count} ended tasks of ${event.bytes} bytes were removed before their retention was over: the option ` +
          `tasks.maxRetainedBytes is ${event.limit}`,
      );
    case 'task-ended':
      return logger[levelOf(event)](
        `task ${quoted(event.task)}: ${event.outcome ?? 'will be tried again'}${faultOf(event)}`,
      );
    case 'task-crashed':
      return logger[event.outcome === 'crashed' ? 'error' : 'warn'](
        `task ${quoted(event.task)}: its node did not note an end before the lease was over (crash ${event.crashes}), ${sequelOf(event)}`,
      );
    case 'tick-skipped':
    case 'job-warning-ended':
      return logger.log(event.sentence);
    case 'cluster-joined':
      return logger[event.application === undefined ? 'warn' : 'log'](event.sentence);
    case 'task-lost':
      return logger.warn(event.error.message);
    case 'clock-suspect':
      return logger.warn(
        `clocks can't be trusted: ${event.reason}. For a while this node takes over permits only by its own observations`,
      );
    case 'store-lost':
      return logger.warn(`the store can't be asked, nothing runs until it is back: ${event.error.message}`);
    case 'store-back':
      return logger.log('the store is back');
    case 'alert':
      return logger.log(`alert ${event.alert.status}: ${event.alert.kind}: ${event.alert.sentence}`);
    case 'alerts-undelivered':
      return logger.error(
        `${event.count} alerts did not reach the receiver ${quoted(event.receiver)}: ${event.problem}`,
      );
    case 'problem':
      // The action stands in quotes: "renew the lease" alone reads like an order.
      return logger[problemLevel(event)](
        `${name && `${name}: `}problem in ${quoted(event.action)}: ${messageWithCauses(event.error)}`,
      );
    default:
      return logger.debug(`${name}: ${event.type}`);
  }
}

/** A task that nothing will try again is an error: an operator has to look. */
function levelOf({ isFailure, outcome }: { readonly isFailure: boolean; readonly outcome?: string }) {
  if (!isFailure) return 'debug';
  return outcome === undefined ? 'warn' : 'error';
}

function sequelOf({ outcome }: { readonly outcome?: string }): string {
  if (outcome === undefined) return 'will be tried again';
  return outcome === 'crashed' ? 'a dead letter now' : outcome;
}

function faultOf({ error }: { readonly error?: unknown }): string {
  return error === undefined ? '' : ` (${messageWithCauses(error)})`;
}

function memberName({ acquirer, group, host }: Participant): string {
  return `node ${quoted(acquirer)} (group ${quoted(group)}, host ${quoted(host)})`;
}

/** Repeated actions. If the store can't be asked, `store-lost` reports that already. */
const PERIODIC = new Set([
  'sweep',
  'load definitions',
  'state dump',
  'look for tasks',
  'look for addressed tasks',
  'sweep the tasks',
  'look at the schedule',
  'look for run requests',
  'take in a change',
]);

function problemLevel({ action, error }: { action: string; error: unknown }): 'debug' | 'warn' {
  return PERIODIC.has(action) && isStoreError(error) ? 'debug' : 'warn';
}

/**
 * Keeps each message on one line. Messages contain names, patterns and errors of other people. These texts must not
 * begin a new line of the log, or control the terminal of its reader.
 */
export function oneLineLogger(logger: GatekeeperLogger): GatekeeperLogger {
  return {
    log: (message) => logger.log(oneLine(message)),
    warn: (message) => logger.warn(oneLine(message)),
    error: (message) => logger.error(oneLine(message)),
    debug: (message) => logger.debug(oneLine(message)),
  };
}

/** A logger that writes JSON escapes the fields of an entry itself. */
function oneLine(message: LogLine): LogLine {
  return typeof message === 'string' ? escapeHidden(message) : message;
}

/**
 * A whole entry of the audit log as one line of the application's log. The journal in the store has a limited size, so
 * later entries replace earlier ones. All values are quoted, so that no reason can look like a separate line.
 */
function auditLine(entry: AuditEntry): string {
  return `audit: ${safeJson(entry)}`;
}
