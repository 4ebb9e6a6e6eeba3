/**
 * A server that all tests of a file share: it starts when the first of them asks for it, and ends after the last one.
 * Call this in each file of tests, not in a module that they share: such a module outlives its first file.
 */
export function useShared<T extends AsyncDisposable>(start: () => Promise<T>): () => Promise<T> {
  let shared: Promise<T> | undefined;
  afterAll(async () => {
    await (await shared)?.[Symbol.asyncDispose]();
  });
  return () => (shared ??= start());
}
