/** For `await using`: closed at the end of the block, however that comes. */
export function closing<T extends { close(): Promise<void> }>(what: T): T & AsyncDisposable {
  return Object.assign(what, { [Symbol.asyncDispose]: () => what.close() });
}
