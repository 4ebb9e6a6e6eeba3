/** The timer of ioredis for its option `socketTimeout`. */
interface Timed {
  socketTimeoutTimer?: NodeJS.Timeout | undefined;
}

/**
 * Call this when a connection has closed. Up to version 5.11, ioredis leaves the timer of its `socketTimeout` running if
 * the connection closes before an answer. The timer then breaks the next connection, in good health, and keeps a process
 * alive that has closed its clients.
 */
export function endSocketTimeout(client: object): void {
  const timed = client as Timed;
  if (timed.socketTimeoutTimer === undefined) return;
  clearTimeout(timed.socketTimeoutTimer);
  timed.socketTimeoutTimer = undefined; // else ioredis begins no other
}
