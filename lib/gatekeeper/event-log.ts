import {
  type DefinitionChange,
  SHARD_PREFIX,
  escapeHidden,
  messageOf,
  quoted,
  safeJson,
  word,
} from '../decision/index.js';
import { isStoreError } from '../stores/index.js';
import { jobKey } from '../activity/last-runs.js';
import type { NodeClock } from '../async/node-clock.js';
import type { AuditEntry } from '../context/audit-entry.js';
import type { GatekeeperLogger, LogLine } from '../context/context.js';
import type { GatekeeperEvent } from '../context/events.js';
import type { Participant } from '../context/participant.js';
import type { LogFields } from './log-fields.js';

/** Number of jobs and semaphores whose last line is kept, to limit the memory. Others may repeat a line. */
const MOST_REMEMBERED = 1000;

/** Definitions that differ from code, with a line each. */
const MOST_DIFFERENCES = 20;

/** ms for which shards that are restored belong to one loss: a node restores all of them at the same time. */
const ONE_LOSS = 60_000;

/** Events of normal operation, which are never logged: once per keep-alive, or twice per run. */
const SILENT: ReadonlySet<GatekeeperEvent['type']> = new Set(['refreshed', 'released', 'run-started', 'task-started']);

/**
 * Writes events to the application's log. An event that may occur at each tick of a job is a debug line. It is only
 * logged if it differs from the last one of the same job or semaphore, because all nodes except one skip each tick.
 */
export class EventLog {
  readonly #last = new Map<string, string>();
  /** Number of definitions that were reported to differ from code. */
  #differences = 0;
  /** When shards were reported as restored (monotonic ms). */
  #shardsRestoredAt = -Infinity;

  /** @param fields makes entries with fields; default: lines of text */
  constructor(
    private readonly logger: GatekeeperLogger,
    private readonly clock: Pick<NodeClock, 'monotonic'>,
    private readonly fields?: LogFields,
  ) {}

  note(event: GatekeeperEvent): void {
    if (SILENT.has(event.type)) return;
    const tick = tickOf(event);
    // A loss is always logged. It also changes the state, so the next event is logged too.
    if (tick && !this.#isNew(tick) && event.type !== 'lost') return;
    const logger = this.fields?.over(this.logger, event) ?? this.logger;
    if (event.type === 'definition-differs' && ++this.#differences > MOST_DIFFERENCES) this.#noteMore(logger);
    else if (event.type === 'restored' && event.semaphore.startsWith(SHARD_PREFIX))
      this.#noteShard(event.semaphore, logger);
    else logEvent(event, logger);
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

  /** After a change of many, each definition differs from code: these would be as many lines at each start. */
  #noteMore(logger: GatekeeperLogger): void {
    if (this.#differences !== MOST_DIFFERENCES + 1) return;
    logger.log(
      'more stored definitions differ from the code of this node: "gatekeeper status --overridden" lists them',
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
      return { of: jobKey(event), state: 'error' in event ? messageOf(event.error) : 'ran' };
    default:
      return undefined;
  }
}

function logEvent(event: GatekeeperEvent, logger: GatekeeperLogger): void {
  const name = 'semaphore' in event && event.semaphore !== undefined ? quoted(event.semaphore) : '';
  switch (event.type) {
    case 'granted':
      return logger.debug(`${name}: got slot ${event.permit.slot}, token ${event.permit.token}`);
    case 'lost':
      return logger.warn(`${name}: lost slot ${event.permit.slot} while it was in use (${event.reason})`);
    case 'expired':
      return logger.log(
        `${name}: freed ${event.permits.map((each) => `slot ${each.slot} of ${word(each.acquirer)}`).join(', ')}, expired`,
      );
    case 'denied':
      return logger.debug(`${name}: denied (${event.reason})`);
    case 'run-skipped':
      return logger.debug(`${name}: skipped ${word(event.job)} (${event.reason})`);
    case 'run-finished':
      return logger.debug(
        `${name}: ${word(event.job)} ${'error' in event ? `failed: ${messageOf(event.error)}` : 'ran'}`,
      );
    case 'run-attempt-failed':
      return logger.warn(
        `${name}: attempt ${event.attempt} of ${event.attempts} of ${word(event.job)} failed, the next begins in ` +
          `${event.pause} ms: ${messageOf(event.error)}`,
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
    case 'definition-differs':
      return logger[isEdit(event) ? 'log' : 'warn'](event.sentence);
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
    case 'resources-unowned':
    case 'tasks-untaken':
    case 'schedule-differs':
    case 'ticks-missed':
    case 'schedule-silent':
    case 'other-application':
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
        `task ${quoted(event.task)}: ${event.outcome ?? 'to be tried again'}${faultOf(event)}`,
      );
    case 'task-crashed':
      return logger[event.outcome === 'crashed' ? 'error' : 'warn'](
        `task ${quoted(event.task)}: its node did not note an end before the lease was over (crash ${event.crashes}), ${sequelOf(event)}`,
      );
    case 'tick-skipped':
      return logger.log(event.sentence);
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
      return logger[problemLevel(event)](`${name} ${event.action}: ${messageOf(event.error)}`.trim());
    default:
      return logger.debug(`${name}: ${event.type}`);
  }
}

/** Whether a person or program set the definition. Otherwise only the code has changed. */
function isEdit({ change }: { readonly change?: DefinitionChange }): boolean {
  return change !== undefined && ['define', 'edit', 'migrate'].includes(change.kind);
}

/** A task that nothing will try again is an error: an operator has to look. */
function levelOf({ isFailure, outcome }: { readonly isFailure: boolean; readonly outcome?: string }) {
  if (!isFailure) return 'debug';
  return outcome === undefined ? 'warn' : 'error';
}

function sequelOf({ outcome }: { readonly outcome?: string }): string {
  if (outcome === undefined) return 'to be tried again';
  return outcome === 'crashed' ? 'a dead letter now' : outcome;
}

function faultOf({ error }: { readonly error?: unknown }): string {
  return error === undefined ? '' : ` (${messageOf(error)})`;
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
