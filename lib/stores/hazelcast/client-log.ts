import type { ILogger, LogLevel } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { escapeHidden } from '../../core/decision/texts/hidden-characters.js';

/** Receiver of the Hazelcast client's log, for example Nest's `Logger`. */
export interface ClientLogger {
  /** Receives errors. */
  error(message: string): void;
  /** Receives warnings. */
  warn(message: string): void;
  /** Receives information. */
  log(message: string): void;
  /** Receives details. Without this method they are dropped. */
  debug?(message: string): void;
}

/**
 * Forwards the client's log, and also reads it: only the log shows why a connection failed, or that a listener was
 * lost.
 */
export class ClientLog implements ILogger {
  /** The first warning. While the client connects, this is why the first address failed; later warnings repeat it. */
  firstWarning?: string;

  constructor(
    readonly logger: ClientLogger | undefined,
    readonly onWarning: (source: string) => void,
  ) {}

  error(source: string, message: string, detail?: unknown): void {
    this.logger?.error(line(source, message, detail));
  }

  warn(source: string, message: string, detail?: unknown): void {
    this.firstWarning ??= message;
    this.logger?.warn(line(source, message, detail));
    this.onWarning(source);
  }

  info(source: string, message: string, detail?: unknown): void {
    this.logger?.log(line(source, message, detail));
  }

  debug(source: string, message: string, detail?: unknown): void {
    this.logger?.debug?.(line(source, message, detail));
  }

  trace(): void {}

  log(level: LogLevel, source: string, message: string, detail?: unknown): void {
    const { ERROR, WARN, INFO, DEBUG } = loadHazelcastClient().LogLevel;
    if (level === ERROR) this.error(source, message, detail);
    else if (level === WARN) this.warn(source, message, detail);
    else if (level === INFO) this.info(source, message, detail);
    else if (level === DEBUG) this.debug(source, message, detail);
  }
}

function line(source: string, message: string, detail: unknown): string {
  const what = detail === undefined || detail === null ? message : `${message} (${String(detail)})`;
  return escapeHidden(`${source}: ${what}`);
}
