import type { ServerResponse } from 'node:http';

/**
 * Calls `closed` when the connection of an answer closes. If it has closed already, calls it at once, because no event
 * follows. A client may disconnect while a guard of the application is still at work.
 */
export function onceClosed(response: ServerResponse, closed: () => void): void {
  if (response.destroyed) closed();
  else response.once('close', closed);
}
