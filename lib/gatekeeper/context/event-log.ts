import { StoreUnavailableError } from '../../stores/index.js';
import type { GatekeeperLogger } from './context.js';
import type { GatekeeperEvent } from './events.js';

/** What is said of an event, and how loudly. A denial is quiet: it happens on all nodes but one at every tick. */
export function logEvent(event: GatekeeperEvent, logger: GatekeeperLogger): void {
  // The one event of the steady state: once per keep-alive, and nobody wants to read it.
  if (event.type === 'refreshed') return;
  const name = 'semaphore' in event && event.semaphore !== undefined ? JSON.stringify(event.semaphore) : '';
  switch (event.type) {
    case 'granted':
      return logger.debug(`${name}: got slot ${event.permit.slot}, token ${event.permit.token}`);
    case 'lost':
      return logger.warn(`${name}: lost slot ${event.permit.slot} while it was in use (${event.reason})`);
    case 'expired':
      return logger.log(
        `${name}: freed ${event.permits.map((each) => `slot ${each.slot} of ${each.acquirer}`).join(', ')}, expired`,
      );
    case 'denied':
      return logger.debug(`${name}: denied (${event.reason})`);
    case 'run-skipped':
      return logger.debug(`${name}: skipped ${event.job} (${event.reason})`);
    case 'run-unguarded':
      return logger.warn(`${name}: ${event.job} runs WITHOUT a permit (${event.reason}), as onUnavailable: 'run' says`);
    case 'restored':
      return logger.warn(`${name}: the store had lost its record; restored revision ${event.revision} with a grace`);
    case 'reinstated':
      return logger.log(`${name}: revision ${event.revision} put back from the archive`);
    case 'record-unreadable':
      return logger.error(event.error.message);
    case 'clock-suspect':
      return logger.warn(
        `clocks can't be trusted: ${event.reason}. Permits are only taken over by this node's own observation until it is settled`,
      );
    case 'store-lost':
      return logger.warn(`the store can't be asked, nothing runs until it is back: ${event.error.message}`);
    case 'store-back':
      return logger.log('the store is back');
    case 'problem':
      return logger[problemLevel(event)](`${name} ${event.action}: ${messageOf(event.error)}`.trim());
    default:
      return logger.debug(`${name}: ${event.type}`);
  }
}

/** Done again and again by themselves, and told of by `store-lost` when the store can't be asked. */
const PERIODIC = new Set(['sweep', 'load definitions', 'state dump']);

function problemLevel({ action, error }: { action: string; error: unknown }): 'debug' | 'warn' {
  return PERIODIC.has(action) && error instanceof StoreUnavailableError ? 'debug' : 'warn';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
