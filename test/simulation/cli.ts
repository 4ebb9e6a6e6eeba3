import { parseArgs } from 'node:util';
import { story } from './report.js';
import { simulate } from './schedule.js';
import { survey } from './survey.js';
import { WEATHERS, type WeatherName } from './weather/weather.js';

const USAGE = `sim: schedules of a simulated cluster
  --weather <name>   ${Object.keys(WEATHERS).join(', ')}; all of them unless given
  --seed <n>         one schedule with its trace
  --from <n>         first seed (1)
  --count <n>        how many schedules per weather (1000)`;

/** @returns the exit code: 1 when a promise was broken */
export async function main(args: readonly string[], print: (text: string) => void): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      weather: { type: 'string' },
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      count: { type: 'string', default: '1000' },
      help: { type: 'boolean', default: false },
    },
  });
  const isKnown = values.weather === undefined || values.weather in WEATHERS;
  if (values.help || !isKnown) {
    print(USAGE);
    return isKnown ? 0 : 2;
  }
  const weathers = (values.weather ? [values.weather] : Object.keys(WEATHERS)) as WeatherName[];
  if (values.seed !== undefined) return replay(Number(values.seed), weathers[0]!, print);
  let failures = 0;
  for (const weather of weathers) failures += await run(weather, Number(values.from), Number(values.count), print);
  return failures > 0 ? 1 : 0;
}

async function replay(seed: number, weather: WeatherName, print: (text: string) => void): Promise<number> {
  const { trace, violations } = await simulate(seed, { weather, isTraced: true });
  for (const line of [...trace, ...violations]) print(line);
  return violations.length > 0 ? 1 : 0;
}

async function run(weather: WeatherName, from: number, count: number, print: (text: string) => void): Promise<number> {
  const began = performance.now();
  const { failures, grants } = await survey(from, count, { weather });
  const each = (performance.now() - began) / count;
  const share = ((100 * failures.length) / count).toFixed(3);
  print(`${weather}: ${count} schedules, ${grants} grants, ${each.toFixed(1)} ms each, ${share} % broke a promise`);
  if (failures.length > 0) print(`  seeds ${failures.map(({ seed }) => seed).join(' ')}`);
  if (failures[0]) print(await story(failures[0], { weather }, 20));
  return failures.length;
}
