/** Resolves when the signal aborts; at once if it has aborted already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Settles like `promise`. If the signal aborts first, rejects with an error that has `reason` as its message. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, reason: string): Promise<T> {
  return Promise.race([promise, aborted(signal).then(() => Promise.reject<T>(new Error(reason)))]);
}
