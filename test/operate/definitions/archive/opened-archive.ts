import { Subject } from 'rxjs';
import type { ArchiveStore, GatekeeperEvent } from 'nestjs-gatekeeper';
import { systemClock } from '../../../../lib/core/async/node-clock.js';
import { Timers } from '../../../../lib/core/async/timers.js';
import type { Context } from '../../../../lib/core/context/context.js';
import { DefinitionArchive } from '../../../../lib/operate/definitions/archive/definition-archive.js';

/** An archive as one process uses it, and the errors that it has reported. */
export class OpenedArchive {
  readonly problems: Error[] = [];
  readonly #archive: DefinitionArchive;

  constructor(store: ArchiveStore) {
    const events = new Subject<GatekeeperEvent>();
    events.subscribe((event) => event.type === 'problem' && this.problems.push(event.error as Error));
    const context = { events, nodeClock: systemClock, timers: new Timers(systemClock) };
    this.#archive = new DefinitionArchive(store, context as unknown as Context);
  }

  /** @throws the error that was reported */
  async save(definitions: Parameters<DefinitionArchive['save']>[0]): Promise<void> {
    if (!(await this.#archive.save(definitions))) throw this.#failure;
  }

  /** All definitions, in the order of their names. @throws the error that was reported */
  async load() {
    const archived = await this.#archive.archived();
    if (!archived) throw this.#failure;
    return [...archived.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  close(): Promise<void> {
    return this.#archive.close();
  }

  /** The same error as before is not reported again. */
  get #failure(): Error {
    return this.problems.at(-1)!;
  }
}
