import { type OnModuleDestroy, Res } from '@nestjs/common';
import { type GatekeeperEvent, GatekeeperService } from '../../gatekeeper/index.js';
import { ROUTES } from '../api/index.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { EventStreams } from '../http/event-streams.js';
import { Serves } from '../http/serves.decorator.js';
import { ChangeGatherer } from './change-gatherer.js';

const MOST_STREAMS = 100;
/** ms */
const HEARTBEAT = 15_000;

/** What happens, to whoever looks. */
@ConsoleController()
export class EventsController implements OnModuleDestroy {
  readonly streams = new EventStreams({ most: MOST_STREAMS, heartbeat: HEARTBEAT });

  constructor(private readonly gatekeeper: GatekeeperService) {}

  onModuleDestroy(): void {
    this.streams.close();
  }

  @Serves(ROUTES.events)
  events(@Res() response: ConsoleResponse): void {
    const stream = this.streams.open(response);
    const gatherer = new ChangeGatherer((semaphores) => stream.send('change', { semaphores }));
    const changes = this.gatekeeper.changes$.subscribe((name) => gatherer.add(name));
    const events = this.gatekeeper.events$.subscribe((event) => {
      // The one event of the steady state; the change of the record tells enough.
      if (event.type !== 'refreshed') stream.send('gatekeeper', told(event));
    });
    stream.onEnd(() => {
      gatherer.close();
      changes.unsubscribe();
      events.unsubscribe();
    });
    stream.begin();
  }
}

/** JSON would make nothing of errors. Their causes and stacks are for the log. */
function told(event: GatekeeperEvent): object {
  if (!('error' in event)) return event;
  const { error } = event;
  return { ...event, error: { message: error instanceof Error ? error.message : String(error) } };
}
