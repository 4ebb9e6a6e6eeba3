import { Actor } from '../locks/actors.mjs';
import { startServers } from '../locks/speed.mjs';
import { percentile } from '../measure.mjs';

export const WORKERS = [1, 4, 16];
/** Submissions at the same time. */
export const FLOWS = 64;
/** Rounds whose figures count. One before them warms up. */
const ROUNDS = 5;
/** Tasks for each s of a measurement by the server, so that a measurement takes about as long on each. A worker alone gets half. */
const PER_SECOND = { redis: 4000, hazelcast: 4000, postgres: 1000 };
/** Tasks of one measurement of an idle system. */
const IDLE = 100;

/**
 * Tasks submitted and completed per second, and percentiles (µs) from the submission to the start when idle: medians of
 * rounds. In each, all systems take their turn with each measurement, each system in a process of its own.
 *
 * @param seconds about those of each measurement
 * @returns figures by id, each by its name: `submit`, `complete-<workers>`, `p50`, `p99`; fewer for a system that failed
 */
export async function queueSpeed(systems, seconds, say) {
  const servers = await startServers(systems);
  const actors = [];
  try {
    for (const system of systems) actors.push(await Actor.start(system, servers.addressOf(system)));
    const taken = systems.map(() => ({}));
    for (let round = 0; round <= ROUNDS; round++) {
      say(`tasks, ${round === 0 ? 'a round that warms up' : `round ${round} of ${ROUNDS}`}`);
      for (const measure of measurements(round)) {
        for (const [index, { id, server }] of systems.entries()) {
          const tasks = Math.ceil(seconds * PER_SECOND[server]);
          for (const [name, value] of await measure(actors[index], tasks, (error) => say(`${id}: ${error}`)))
            if (round > 0) (taken[index][name] ??= []).push(value);
        }
      }
    }
    return Object.fromEntries(systems.map(({ id }, index) => [id, medians(taken[index])]));
  } finally {
    for (const actor of actors) await actor.stop();
    await servers.stop();
  }
}

/** Each resolves to names and values. */
function measurements(round) {
  const completions = WORKERS.map((workers) => async (actor, tasks, failed) => {
    const [queue, count] = [`r${round}-w${workers}`, workers === 1 ? Math.ceil(tasks / 2) : tasks];
    const submitted = await actor.ask('submit', queue, count, FLOWS);
    if (submitted.error) return failed(submitted.error) ?? [];
    const completed = await actor.ask('complete', queue, count, workers);
    if (completed.error) return failed(completed.error) ?? [];
    return [
      ['submit', submitted.rate],
      [`complete-${workers}`, completed.rate],
    ];
  });
  return [
    ...completions,
    async (actor, _tasks, failed) => {
      const { p50, p99, error } = await actor.ask('idle', `r${round}-idle`, IDLE);
      if (error) return failed(error) ?? [];
      return [
        ['p50', p50],
        ['p99', p99],
      ];
    },
  ];
}

const medians = (taken) =>
  Object.fromEntries(Object.entries(taken).map(([name, values]) => [name, percentile(values, 50)]));
