import type { GatekeeperLogger, LogLine } from '../core/context/context.js';
import type { GatekeeperEvent } from '../core/context/events.js';
import type { NodeIdentity } from '../core/context/node-identity.js';
import { escapeHidden, messageWithCauses } from '../core/decision/index.js';

/** Fields of events that are texts or numbers, and that a log entry has under the same name. */
const COPIED = [
  'semaphore',
  'job',
  'run',
  'scope',
  'token',
  'task',
  'outcome',
  'reason',
  'code',
  'loss',
  'action',
  'schedule',
  'revision',
  'took',
  'attempt',
  'attempts',
] as const;

/** Makes log entries with fields, for loggers that write JSON. */
export class LogFields {
  readonly #node: Readonly<Record<string, string>>;

  /** @param key of the field with the text: "msg" for pino, "message" for others */
  constructor(
    private readonly key: string,
    { acquirer, group, instance }: NodeIdentity,
  ) {
    this.#node = { node: acquirer, nodeGroup: group, instance };
  }

  /** A logger whose lines become entries with the fields of the event, and of the node. */
  over(logger: GatekeeperLogger, event?: GatekeeperEvent): GatekeeperLogger {
    const fields = event && fieldsOf(event);
    const entry = (text: LogLine) =>
      typeof text === 'string' ? { [this.key]: escapeHidden(text), ...this.#node, ...fields } : text;
    return {
      log: (text) => logger.log(entry(text)),
      warn: (text) => logger.warn(entry(text)),
      error: (text) => logger.error(entry(text)),
      debug: (text) => logger.debug(entry(text)),
    };
  }
}

function fieldsOf(event: GatekeeperEvent): Record<string, unknown> {
  const values = event as Readonly<Record<string, unknown>> & GatekeeperEvent;
  const copied = COPIED.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]]));
  const { permit, group } = event as { readonly permit?: { token: number; slot: number; id: string }; group?: string };
  return {
    event: event.type,
    ...(Object.fromEntries(copied) as object),
    ...(permit && { token: permit.token, slot: permit.slot, permit: permit.id }),
    ...(group !== undefined && { resourceGroup: group }),
    ...('error' in event && event.error !== undefined && { error: messageWithCauses(event.error) }),
  };
}
