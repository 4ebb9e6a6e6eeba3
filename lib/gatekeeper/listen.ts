import type { Subject } from 'rxjs';
import { messageOf } from '../core/decision/index.js';
import type { GatekeeperLogger } from '../core/context/context.js';
import type { EventOf, GatekeeperEvent } from '../core/context/events.js';

/**
 * Calls `listener` for each event of one type. An error of the listener never reaches the code that made the event: it
 * makes a `problem` event. An error about a `problem` event is logged instead, because it would call the listener again.
 *
 * @returns a function that ends the calls
 */
export function listen<T extends GatekeeperEvent['type']>(
  events: Subject<GatekeeperEvent>,
  type: T,
  listener: (event: EventOf<T>) => void | Promise<void>,
  logger: Pick<GatekeeperLogger, 'error'>,
): () => void {
  const report = (error: unknown) => {
    if (type === 'problem') logger.error(`a listener for problems failed: ${messageOf(error)}`);
    else events.next({ type: 'problem', action: `call a listener for ${type}`, error });
  };
  const call = async (event: EventOf<T>) => {
    try {
      await listener(event);
    } catch (error) {
      report(error);
    }
  };
  const isWanted = (event: GatekeeperEvent): event is EventOf<T> => event.type === type;
  const subscription = events.subscribe((event) => {
    if (isWanted(event)) void call(event);
  });
  return () => subscription.unsubscribe();
}
