import type { ServerResponse } from 'node:http';

/**
 * Calls `closed` when the connection of an answer is closed; at once if it is closed already, because no event
 * follows then. A client may disconnect while a guard of the application is still working.
 */
export function onceClosed(response: ServerResponse, closed: () => void): void {
  if (response.destroyed) closed();
  else response.once('close', closed);
}
