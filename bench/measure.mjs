/** Java's arguments for members that are measured: all of its compilers, as in production. */
export const FULLY_COMPILED = ['-XX:TieredStopAtLevel=4'];

/** Percentiles of our calls and of their reference: see {@link inTurn}. */
export function interleaved(ours, reference, settle, options) {
  return inTurn({ ours, reference }, settle, options);
}

/**
 * p50 and p99 (µs) of several kinds of calls, by name. They are timed in turn, so that other load of the machine hits
 * all.
 *
 * @param settle waits for work that an earlier call left behind, so that no call pays for another
 */
export async function inTurn(kinds, settle = () => {}, { calls = 2500, warmup = 1500 } = {}) {
  const times = Object.entries(kinds).map(([name, prepare]) => ({ name, prepare, taken: [] }));
  for (let count = -warmup; count < calls; count++) {
    for (const { prepare, taken } of times) {
      const took = await timed(prepare, count, settle);
      if (count >= 0) taken.push(took);
    }
  }
  return Object.fromEntries(
    times.map(({ name, taken }) => [name, { p50: percentile(taken, 50), p99: percentile(taken, 99) }]),
  );
}

/** `prepare` does its own work first (not timed) and returns the call. */
async function timed(prepare, count, settle) {
  const call = await prepare(count);
  await settle();
  const started = process.hrtime.bigint();
  await call();
  return Number(process.hrtime.bigint() - started) / 1000;
}

/**
 * Medians of the rates (calls per second) of several kinds of calls, and of the processor time that this process takes
 * for one call (µs), by name. They are taken in turn after a warm-up of each. On a busy machine the processor time says
 * more: other programs change the rate, and hardly that.
 */
export async function ratesInTurn(flows, kinds, { rounds = 35, ms = 300, warmup = 1000 } = {}) {
  const rates = Object.entries(kinds).map(([name, call]) => ({ name, call, taken: [] }));
  for (const { call } of rates) await rate(flows, call, warmup);
  for (let count = 0; count < rounds; count++) {
    for (const { call, taken } of rates) taken.push(await rate(flows, call, ms));
  }
  const medianOf = (taken, field) =>
    percentile(
      taken.map((each) => each[field]),
      50,
    );
  return Object.fromEntries(
    rates.map(({ name, taken }) => [name, { rate: medianOf(taken, 'rate'), cpu: medianOf(taken, 'cpu') }]),
  );
}

/** `flows` flows that each repeat their call, for `ms`. */
async function rate(flows, call, ms) {
  const started = performance.now();
  const until = started + ms;
  const before = process.cpuUsage();
  let calls = 0;
  const flow = async (index) => {
    while (performance.now() < until) {
      await call(index);
      calls++;
    }
  };
  await Promise.all(Array.from({ length: flows }, (_, index) => flow(index)));
  const { user, system } = process.cpuUsage(before);
  return { rate: (calls / (performance.now() - started)) * 1000, cpu: (user + system) / calls };
}

export function percentile(values, percent) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length * percent) / 100)];
}

export const round = (value) => Number(value.toPrecision(4));
