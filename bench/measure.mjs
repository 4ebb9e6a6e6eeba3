/**
 * Medians of two kinds of calls, taken in turn, so that whatever the machine does meanwhile hits both.
 *
 * @param quiet waits for what a call before may have left behind, so that nobody pays for another
 */
export async function interleaved(ours, reference, quiet = () => {}, { calls = 2500, warmup = 1500 } = {}) {
  const times = { ours: [], reference: [] };
  for (let count = -warmup; count < calls; count++) {
    const took = [await timed(ours, count, quiet), await timed(reference, count, quiet)];
    if (count < 0) continue;
    times.ours.push(took[0]);
    times.reference.push(took[1]);
  }
  return { ours: median(times.ours), reference: median(times.reference) };
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
