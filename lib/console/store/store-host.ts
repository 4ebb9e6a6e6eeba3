import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { isReal, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { Driver } from '../../core/store/index.js';
import { BEAT, type Call } from '../../stores/remote/protocol.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { EventStreams } from '../http/event-streams.js';
import { Gate, tooManyWaits } from '../http/gate.js';
import { ProblemError } from '../api/problem.error.js';
import { ChangeStream } from './change-stream.js';

/** Maximum number of calls that wait at the same time, such as polls. Each has a connection, and waits in the store, too. */
const MOST_WAITING = 1000;

/**
 * The store that other applications use through this one. It has a client of its own, because the gatekeeper's client
 * is not notified of its own writes. The client is opened at boot if a token has the role node, else at the first call.
 * It is closed with the application, after the runs had their grace.
 */
@Injectable()
export class StoreHost implements OnModuleInit, BeforeApplicationShutdown {
  readonly streams = new EventStreams({ most: 1000, heartbeat: BEAT });
  #driver?: Driver;
  readonly #waits = new Gate({ most: MOST_WAITING, refusal: tooManyPolls });
  #isClosing = false;

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  onModuleInit(): void {
    const isAsked = this.settings.tokens.some(({ role }) => role === 'node');
    if (isAsked && isReal(this.gatekeeper)) this.#driver = partsOf(this.gatekeeper).openStore();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#isClosing = true;
    this.streams.close();
    // Polls that wait end with it, and fail.
    await this.#driver?.close();
  }

  /** @throws ProblemError while the application shuts down; then the call had no effect */
  async #opened(): Promise<Driver> {
    const { directory, openStore } = partsOf(this.gatekeeper);
    await directory.shards.makeOwn();
    if (this.#isClosing) throw new ProblemError('closing', 'this node shuts down: ask another node');
    return (this.#driver ??= openStore());
  }

  /**
   * Makes a call of another application.
   *
   * @param body after its check
   * @param gone aborts when the other application has gone
   * @throws ProblemError, the error of the store, or the signal's reason
   */
  async answer(call: Call, body: unknown, gone: AbortSignal): Promise<object> {
    const driver = await this.#opened();
    const run = () => call.run(driver, body, gone);
    const answer = await (call.waits ? this.#waits.during('all', run) : run());
    return { ...answer, health: driver.health() };
  }

  /** Streams changes below a prefix until either side ends it. @throws ProblemError */
  async stream(prefix: string, response: ConsoleResponse): Promise<void> {
    const driver = await this.#opened();
    const stream = this.streams.open(response);
    const changes = new ChangeStream(driver, stream);
    stream.onBeat(() => changes.beat());
    stream.onEnd(() => void changes.end());
    await changes.begin(prefix);
    stream.begin();
  }
}

function tooManyPolls() {
  return tooManyWaits(`${MOST_WAITING} polls wait on this node already: repeat it later, or ask another node`);
}
