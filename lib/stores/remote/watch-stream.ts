import { RECONNECT, pauseAfter } from '../../core/async/backoff.js';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import type { StoreHealth } from '../../core/store/store-health.js';
import type { RecordChange } from '../../core/store/driver.js';
import { FirstAttempt } from '../../core/store/first-attempt.js';
import type { Endpoints } from './endpoints.js';
import { eventsIn } from './event-stream.js';
import { BEAT, WATCH } from './protocol.js';
import type { HttpTransport } from './http-transport.js';

/** ms of silence after which a stream counts as dead. */
const SILENCE = 3 * BEAT;

interface Listener {
  readonly changed: (change: RecordChange) => void;
  readonly heard: (health: StoreHealth) => void;
}

/** One watch. Opens its stream again when it ends, and then reports that anything may have changed. So it does after a late start. */
export class WatchStream {
  readonly #ending = new AbortController();
  /** Ends with the first attempt to open the stream. */
  readonly firstAttempt = new FirstAttempt();
  #failures = 0;
  #wasOpen = false;
  #hasMissed = false;
  #reading?: AbortController;

  constructor(
    private readonly prefix: string,
    private readonly to: { readonly transport: HttpTransport; readonly endpoints: Endpoints },
    private readonly listener: Listener,
  ) {
    void this.#listenOn();
  }

  /** Call this when the caller goes on, and expects to hear of each change from then on. */
  begin(): void {
    if (!this.#wasOpen) this.#hasMissed = true;
  }

  /** Ends the watch. The listener is not called afterwards. */
  end(): void {
    this.#ending.abort();
    this.#reading?.abort(new Error('the watch ended'));
  }

  async #listenOn(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const { index } = this.to.endpoints.current;
      // The error is dropped, because other calls get the same error and report it.
      await this.#listen().catch(() => this.to.endpoints.failed(index));
      this.#hasMissed = true;
      this.firstAttempt.end();
      await pause(systemClock, pauseAfter(this.#failures++, Math.random(), RECONNECT), { signal, isAwaited: false });
    }
  }

  #listen(): Promise<void> {
    const { transport, endpoints } = this.to;
    const url = `${endpoints.current.url}/${WATCH.path}?prefix=${encodeURIComponent(this.prefix)}`;
    const controller = new AbortController();
    this.#reading = controller;
    const silent = setTimeout(() => controller.abort(new Error('the stream was silent for too long')), SILENCE);
    return transport
      .send(url, { signal: controller.signal }, async (response) => {
        for await (const { type, data } of eventsIn(response)) {
          silent.refresh();
          this.#take(type, JSON.parse(data));
        }
      })
      .finally(() => clearTimeout(silent));
  }

  #take(type: string, data: unknown): void {
    if (this.#ending.signal.aborted) return;
    if (type === 'change') return this.listener.changed(WATCH.events.change.parse(data));
    if (type !== 'open' && type !== 'beat') return;
    this.listener.heard(WATCH.events[type].parse(data).health);
    if (type === 'open') this.#open();
  }

  #open(): void {
    this.#failures = 0;
    this.#wasOpen = true;
    if (this.#hasMissed) this.listener.changed({});
    this.#hasMissed = false;
    this.firstAttempt.end();
  }
}
