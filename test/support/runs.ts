/** `RUNS=10 npm test -- <path>` tries ten times as many cases; the stage `proof` of `npm run verify` tries more, too. */
const TIMES = Number(process.env['RUNS'] ?? 1);

/** How many cases a property tries, if `npm test` has time for `few`. */
export function runs(few: number): number {
  return few * TIMES;
}
