import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { GatekeeperService } from '../../gatekeeper/index.js';
import type { RecordStore } from '../../stores/index.js';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import { ProblemError } from '../http/problem.error.js';
import { ChangeStream, type Sink } from './change-stream.js';

const MOST_STREAMS = 1000;

/**
 * The store as other applications use it through this one: a client of its own, since the gatekeeper's is not told of
 * what it writes itself. Opened for those who may use it, and closed with the application, after its runs had their grace.
 */
@Injectable()
export class StoreHost implements OnModuleInit, BeforeApplicationShutdown {
  readonly #streams = new Set<ChangeStream>();
  #store?: RecordStore;
  #isClosing = false;

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  onModuleInit(): void {
    if (this.settings.tokens.some(({ role }) => role === 'node')) this.#store = this.gatekeeper.openStore();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#streams].map((stream) => stream.end()));
    await this.#store?.close();
  }

  /** @throws ProblemError once the application shuts down; surely nothing was done */
  get store(): RecordStore {
    if (this.#isClosing) throw new ProblemError('closing', 'this node shuts down: ask another one');
    this.#store ??= this.gatekeeper.openStore();
    return this.#store;
  }

  /** Tells `sink` of changes below a prefix until either side ends it. */
  async stream(prefix: string, sink: Sink): Promise<void> {
    const { store } = this;
    if (this.#streams.size >= MOST_STREAMS) {
      throw new ProblemError('too-many-streams', `${MOST_STREAMS} streams are open: ask another node`);
    }
    const stream = new ChangeStream(store, sink);
    this.#streams.add(stream);
    sink.onClosed(() => {
      this.#streams.delete(stream);
      void stream.end();
    });
    await stream.begin(prefix);
  }
}
