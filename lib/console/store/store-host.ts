import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { isReal, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { RecordStore } from '../../core/store/index.js';
import { BEAT } from '../../stores/remote/protocol.js';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { EventStreams } from '../http/event-streams.js';
import { ProblemError } from '../http/problem.error.js';
import { ChangeStream } from './change-stream.js';

/**
 * The store that other applications use through this one. It has a client of its own, because the gatekeeper's client
 * is not notified of its own writes. The client is opened at boot if a token has the role node, else at the first call.
 * It is closed with the application, after the runs had their grace.
 */
@Injectable()
export class StoreHost implements OnModuleInit, BeforeApplicationShutdown {
  readonly streams = new EventStreams({ most: 1000, heartbeat: BEAT });
  #store?: RecordStore;
  #isClosing = false;

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  onModuleInit(): void {
    const isAsked = this.settings.tokens.some(({ role }) => role === 'node');
    if (isAsked && isReal(this.gatekeeper)) this.#store = partsOf(this.gatekeeper).openStore();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#isClosing = true;
    this.streams.close();
    await this.#store?.close();
  }

  /** @throws ProblemError while the application shuts down; then the call had no effect */
  get store(): RecordStore {
    if (this.#isClosing) throw new ProblemError('closing', 'this node shuts down: ask another node');
    this.#store ??= partsOf(this.gatekeeper).openStore();
    return this.#store;
  }

  /** Streams changes below a prefix until either side ends it. @throws ProblemError */
  async stream(prefix: string, response: ConsoleResponse): Promise<void> {
    const { store } = this;
    const stream = this.streams.open(response);
    const changes = new ChangeStream(store, stream);
    stream.onBeat(() => changes.beat());
    stream.onEnd(() => void changes.end());
    await changes.begin(prefix);
    stream.begin();
  }
}
