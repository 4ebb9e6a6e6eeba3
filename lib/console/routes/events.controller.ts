import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type GatekeeperEvent } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { messageOf } from '../../core/decision/index.js';
import { HTTP_ROUTES } from '../api/index.js';
import { type ConsoleCall, visitorOf } from '../http/console-request.js';
import { EventStreams } from '../http/event-streams.js';
import type { Controller, Handler } from '../http/handlers.js';

const MOST_STREAMS = 100;
/** Maximum per token: half of all streams. */
const MOST_EACH = 50;
/** ms; less than the time after which proxies and the page give up a silent stream. */
const HEARTBEAT = 15_000;

/** Serves the stream of changes and events, for the page and for programs. */
@Injectable()
export class EventsController implements Controller, OnModuleDestroy {
  readonly handlers: readonly Handler[] = [{ route: HTTP_ROUTES.events, handle: (call) => this.#events(call) }];
  readonly streams = new EventStreams({ most: MOST_STREAMS, mostEach: MOST_EACH, heartbeat: HEARTBEAT });

  constructor(private readonly gatekeeper: GatekeeperService) {}

  onModuleDestroy(): void {
    this.streams.close();
  }

  #events(call: ConsoleCall): void {
    const { user, names, endsAt } = visitorOf(call);
    const sees = names?.matches;
    const stream = this.streams.open(call.response, user);
    const gatherer = new ChangeGatherer((semaphores) => stream.send('change', { semaphores }));
    const changes = this.gatekeeper.changes$.subscribe((name) => {
      if (!sees || sees(name)) gatherer.add(name);
    });
    const events = this.gatekeeper.events$.subscribe((event) => {
      // Refreshes are frequent, and the event `change` already reports the changed record.
      if (event.type !== 'refreshed' && (!sees || isSeen(event, sees))) stream.send('gatekeeper', told(event));
    });
    // The longest session is far shorter than the longest timer.
    const end = endsAt === undefined ? undefined : setTimeout(() => stream.end(), endsAt - Date.now()).unref();
    stream.onEnd(() => {
      clearTimeout(end);
      gatherer.close();
      changes.unsubscribe();
      events.unsubscribe();
    });
    stream.begin();
  }
}

/**
 * Whether a limited visitor may see an event. Of events without a semaphore it sees only those about the store and the
 * clock.
 */
function isSeen(event: GatekeeperEvent, sees: (name: string) => boolean): boolean {
  if ('semaphore' in event && event.semaphore !== undefined) return sees(event.semaphore);
  return event.type === 'store-lost' || event.type === 'store-back' || event.type === 'clock-suspect';
}

/** Replaces an error by its message, because JSON would turn it into {}. Causes and stacks are only logged. */
function told(event: GatekeeperEvent): object {
  if (!('error' in event)) return event;
  const { error } = event;
  return { ...event, error: { message: messageOf(error) } };
}

/** ms for which changes are collected into one event. */
const GATHERING = 200;

/** Collects the names of changed semaphores. A busy cluster changes records far more often than people can read. */
class ChangeGatherer {
  readonly #names = new Set<string>();
  #timer?: NodeJS.Timeout;

  constructor(private readonly tell: (names: string[]) => void) {}

  add(name: string): void {
    this.#names.add(name);
    this.#timer ??= setTimeout(() => this.#flush(), GATHERING).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    const names = [...this.#names].toSorted();
    this.#names.clear();
    this.#timer = undefined;
    this.tell(names);
  }
}
