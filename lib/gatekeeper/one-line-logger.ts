import { escapeHidden } from '../decision/index.js';
import type { GatekeeperLogger } from '../context/context.js';

/**
 * Keeps each message on one line. Names, patterns and errors of others stand in messages: none of them may begin a line
 * that this node did not write, or steer the terminal of who reads the log.
 */
export function oneLineLogger(logger: GatekeeperLogger): GatekeeperLogger {
  return {
    log: (message) => logger.log(escapeHidden(message)),
    warn: (message) => logger.warn(escapeHidden(message)),
    error: (message) => logger.error(escapeHidden(message)),
    debug: (message) => logger.debug(escapeHidden(message)),
  };
}
