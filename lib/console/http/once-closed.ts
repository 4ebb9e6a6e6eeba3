import type { ServerResponse } from 'node:http';

/**
 * Calls `closed` when the connection of an answer is closed; at once when it is already, because no event follows then:
 * a client may go away while a guard of the application takes its time.
 */
export function onceClosed(response: ServerResponse, closed: () => void): void {
  if (response.destroyed) closed();
  else response.once('close', closed);
}
