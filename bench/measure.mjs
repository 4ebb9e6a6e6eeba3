/** Java's arguments for members that are measured: all of its compilers, as in production. */
export const FULLY_COMPILED = ['-XX:TieredStopAtLevel=4'];

/** Medians of our calls and of what they are held against: see {@link inTurn}. */
export function interleaved(ours, reference, quiet, options) {
  return inTurn({ ours, reference }, quiet, options);
}

/**
 * Medians of several kinds of calls, by name, taken in turn, so that whatever the machine does meanwhile hits all.
 *
 * @param quiet waits for what a call before may have left behind, so that nobody pays for another
 */
export async function inTurn(kinds, quiet = () => {}, { calls = 2500, warmup = 1500 } = {}) {
  const times = Object.entries(kinds).map(([name, prepare]) => ({ name, prepare, taken: [] }));
  for (let count = -warmup; count < calls; count++) {
    for (const { prepare, taken } of times) {
      const took = await timed(prepare, count, quiet);
      if (count >= 0) taken.push(took);
    }
  }
  return Object.fromEntries(times.map(({ name, taken }) => [name, median(taken)]));
}

/** Each side may prepare a call (not timed) and returns the call itself. */
async function timed(prepare, count, quiet) {
  const call = await prepare(count);
  await quiet();
  const started = process.hrtime.bigint();
  await call();
  return Number(process.hrtime.bigint() - started) / 1000;
}

/** Calls per second of `flows` flows that each repeat their call, for `ms`. */
export async function rate(flows, call, ms) {
  const until = performance.now() + ms;
  const started = performance.now();
  let calls = 0;
  const flow = async (index) => {
    while (performance.now() < until) {
      await call(index);
      calls++;
    }
  };
  await Promise.all(Array.from({ length: flows }, (_, index) => flow(index)));
  return (calls / (performance.now() - started)) * 1000;
}

export function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

export const round = (value) => Number(value.toPrecision(4));
