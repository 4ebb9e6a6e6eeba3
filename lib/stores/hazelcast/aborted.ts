/** Resolves when the signal aborts, at once if it has already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The promise, unless the signal aborts first: then it rejects with `reason`. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, reason: string): Promise<T> {
  return Promise.race([promise, aborted(signal).then(() => Promise.reject<T>(new Error(reason)))]);
}
