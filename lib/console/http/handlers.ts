import type { Route } from '../api/index.js';
import type { ConsoleCall } from './console-request.js';

/** Answers the calls of one route. */
export interface Handler {
  readonly route: Route;
  /** @returns the answer; nothing if the handler has begun to send one itself, as a stream does */
  handle(call: ConsoleCall): unknown;
}

/** A part of the console that answers calls. */
export interface Controller {
  readonly handlers: readonly Handler[];
}
