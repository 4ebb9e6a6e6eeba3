/** The ends of what a test opens: all run after each test, the last one first. */
export function useEnds(): (() => unknown)[] {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return ends;
}
