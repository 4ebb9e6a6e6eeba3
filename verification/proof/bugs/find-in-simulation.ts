import { story } from '../../../test/simulation/report.js';
import { simulate } from '../../../test/simulation/schedule.js';
import { bugNamed } from './bugs.js';

/**
 * Runs schedules with a bug in the sources until the checker finds it.
 *
 * @param from the first seed
 * @returns the exit code: 1 when it was found, as for every broken promise
 */
export async function findBug(name: string, from: number, print: (text: string) => void): Promise<number> {
  const { layer } = bugNamed(name);
  if (layer.kind !== 'simulation') {
    throw new Error(`${name} is not found by the simulation, but by: npm run test:bugs -- ${name}`);
  }
  const { faultMix, within, says, members: hasMembers = false } = layer;
  const options = { faultMix, hasMembers };
  for (let seed = from; seed < from + within; seed++) {
    const result = await simulate(seed, options);
    const said = result.violations.find((violation) => says.test(violation));
    if (!said) continue;
    print(await story(result, options, 12));
    print(`found after ${seed - from + 1} schedules: ${said}`);
    return 1;
  }
  print(`not found in ${within} schedules`);
  return 0;
}
