import { type Backoff, pauseAfter } from '../../core/async/backoff.js';
import { pause } from '../../core/async/pause.js';
import type { Alert } from '../../core/context/alert.js';
import { type Context, timeOf } from '../../core/context/context.js';
import type { ReceiverStatus, RequestResult } from '../insight/index.js';
import type { WebhookSettings } from './alerts-options.js';
import { type AlertsMessage, bodyOf, headersOf } from './message.js';
import { type Answer, type Post, isFinal } from './post.js';

/** Alerts in one request. */
const MOST_TOGETHER = 20;
/** Bytes of a request's body. A single alert is much smaller. */
const LARGEST_BODY = 40_000;
/** Alerts that wait. */
const MOST_WAITING = 200;
/** About four minutes with the pauses of {@link BACKOFF}. */
const MOST_ATTEMPTS = 8;
/** ms */
const BACKOFF: Backoff = { first: 2000, longest: 120_000, jitter: 0.5 };
/** ms between two requests. Alerts of this time travel together. */
const PACE = 1000;

/**
 * One receiver. Sends its alerts in their order, one request at a time. Alerts that come meanwhile wait and then travel
 * together.
 */
export class Webhook {
  readonly #waiting: Alert[] = [];
  readonly #closing = new AbortController();
  #last?: RequestResult;
  /** Monotonic ms since when alerts were lost. Absent after a request was accepted. */
  #failingSince?: number;
  #working?: Promise<void>;

  constructor(
    private readonly settings: WebhookSettings,
    private readonly context: Context,
    private readonly post: Post,
    /** Makes the message about some alerts. */
    private readonly messageWith: (alerts: readonly Alert[], type: AlertsMessage['type']) => AlertsMessage,
  ) {}

  get status(): ReceiverStatus {
    const { name, kinds } = this.settings;
    return { name, kinds, waiting: this.#waiting.length, ...(this.#last && { last: this.#last }) };
  }

  /** The fault of a receiver that got no alert, as in the health. */
  get fault(): { readonly since: number; readonly sentence: string } | undefined {
    if (this.#failingSince === undefined) return undefined;
    const why = this.#last?.problem ?? 'too many alerts wait';
    return { since: this.#failingSince, sentence: `the receiver "${this.settings.name}" got no alert (${why})` };
  }

  /** Queues alerts of the kinds that this receiver wants. */
  send(alerts: readonly Alert[]): void {
    this.#waiting.push(...alerts.filter(({ kind }) => this.settings.kinds.includes(kind)));
    const tooMany = this.#waiting.splice(0, this.#waiting.length - MOST_WAITING);
    if (tooMany.length > 0) this.#giveUp(tooMany.length, `more than ${MOST_WAITING} alerts waited`);
    if (this.#waiting.length > 0) this.#working ??= this.#work();
  }

  /** Sends a test at once, without a repetition. Never rejects. */
  test(): Promise<RequestResult> {
    return this.#request(this.context.random.id(), this.messageWith([], 'alerts.test')).then(({ result }) => result);
  }

  /** Sends what waits, for `grace` ms at most. What is left is given up. */
  async close(grace: number): Promise<void> {
    const { nodeClock } = this.context;
    const ended = new AbortController();
    await Promise.race([this.#working, pause(nodeClock, this.#working ? grace : 0, { signal: ended.signal })]);
    ended.abort();
    this.#closing.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    try {
      while (this.#waiting.length > 0) {
        await this.#deliver(this.#takeOldest());
        if (this.#waiting.length > 0) await pause(this.context.nodeClock, PACE, { signal, isAwaited: false });
      }
    } finally {
      // In the same step as the last look: alerts that come right after it begin anew.
      this.#working = undefined;
    }
  }

  /** As many as fit into one request. The format decides how many bytes a character takes. */
  #takeOldest(): readonly Alert[] {
    let count = Math.min(this.#waiting.length, MOST_TOGETHER);
    const size = () =>
      Buffer.byteLength(bodyOf(this.messageWith(this.#waiting.slice(0, count), 'alerts'), this.settings));
    while (count > 1 && size() >= LARGEST_BODY) count = Math.ceil(count / 2);
    return this.#waiting.splice(0, count);
  }

  async #deliver(alerts: readonly Alert[]): Promise<void> {
    const { random, nodeClock } = this.context;
    const { signal } = this.#closing;
    const id = random.id();
    const message = this.messageWith(alerts, 'alerts');
    for (let attempt = 1; ; attempt += 1) {
      const { answer, result } = await this.#request(id, message);
      if (result.problem === undefined) return void (this.#failingSince = undefined);
      if (isFinal(answer) || attempt === MOST_ATTEMPTS || signal.aborted)
        return this.#giveUp(alerts.length, result.problem);
      const wait = Math.max(pauseAfter(attempt - 1, random.number(), BACKOFF), answer.retryAfter ?? 0);
      await pause(nodeClock, Math.min(wait, BACKOFF.longest), { signal, isAwaited: false });
    }
  }

  async #request(id: string, message: AlertsMessage): Promise<{ answer: Answer; result: RequestResult }> {
    const { nodeClock } = this.context;
    const { url, secret, timeout } = this.settings;
    const body = bodyOf(message, this.settings);
    const headers = headersOf(id, body, secret, Math.floor(nodeClock.wall() / 1000));
    const begun = nodeClock.monotonic();
    const answer = await this.post({ url, headers, body, timeout, signal: this.#closing.signal });
    const took = Math.round(nodeClock.monotonic() - begun);
    const result = { at: timeOf(this.context), took, ...resultOf(answer) };
    this.#last = result;
    return { answer, result };
  }

  #giveUp(count: number, problem: string): void {
    this.#failingSince ??= this.context.nodeClock.monotonic();
    this.context.events.next({ type: 'alerts-undelivered', receiver: this.settings.name, count, problem });
  }
}

function resultOf({ status, problem }: Answer): Pick<RequestResult, 'status' | 'problem'> {
  return { ...(status !== undefined && { status }), ...(problem !== undefined && { problem }) };
}
