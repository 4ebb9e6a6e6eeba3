import { type Course, settledHalf } from './course.js';
import { FIGURES, type Figure } from './figures.js';
import { FEWEST_SAMPLES, isGrowing, tooFew, trendOfFigure } from './verdict.js';

/** The figures of all processes for people: how each moved in the second half, and what was done meanwhile. */
export function figuresOf(courses: readonly Course[]): string {
  return courses.map((course) => [heading(course), ...rows(course), ...whatWasDone(course)].join('\n')).join('\n\n');
}

function heading({ node, samples, ending }: Course): string {
  const last = samples.at(-1);
  const minutes = last ? last.minute.toFixed(1) : '0';
  const { exitCode, signal } = ending;
  return `${node}: ${samples.length} samples in ${minutes} minutes, ended with ${signal ?? `exit code ${exitCode}`}`;
}

function rows(course: Course): string[] {
  const header = line('second half', 'from', 'to', 'a minute', '99 % of it', 'allowed', '');
  return [header, ...FIGURES.map((figure) => row(course, figure)), loopDelay(settledHalf(course, 0))];
}

function row(course: Course, figure: Figure): string {
  const samples = settledHalf(course, figure.warmUp);
  const name = figure.unit ? `${figure.name}, ${figure.unit}` : figure.name;
  if (samples.length < FEWEST_SAMPLES) return `  ${name.padEnd(12)} ${tooFew(figure, samples)}`;
  const trend = trendOfFigure(figure, samples);
  const range = `${number(trend.low)} .. ${number(trend.high)}`;
  const mark = isGrowing(figure, trend) ? 'GROWS' : '';
  const { from, to, slope } = trend;
  return line(name, number(from), number(to), number(slope), range, number(figure.allowed), mark);
}

function loopDelay(samples: readonly { loopDelay: { mean: number; p99: number; max: number } }[]): string {
  const worst = (read: (delay: { p99: number; max: number }) => number) =>
    Math.max(...samples.map(({ loopDelay }) => read(loopDelay)));
  if (samples.length === 0) return '  event loop delay: not told';
  const p99s = samples.map(({ loopDelay }) => loopDelay.p99).toSorted((one, other) => one - other);
  const middle = p99s[Math.floor(p99s.length / 2)]!;
  return `  event loop delay: p99 ${number(middle)} ms in the median sample, ${number(worst(({ p99 }) => p99))} ms in the worst, at most ${number(worst(({ max }) => max))} ms`;
}

function whatWasDone({ samples, ending }: Course): string[] {
  const last = samples.at(-1);
  if (!last) return [];
  const counts = (what: object) =>
    Object.entries(what)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  return [
    `  resident ${number(last.rss / 1e6)} MB, compiled code ${number(last.compiled / 1e6)} MB; timers ${counts(last.timers)}; handles ${counts(last.resources)}; ${counts(last.faults)}`,
    `  after close(): ${ending.left ? `timers ${counts(ending.left.timers) || 'none'}, handles ${counts(ending.left.resources)}` : 'not told'}`,
    `  done: ${counts(last.done)}`,
  ];
}

function line(name: string, ...cells: string[]): string {
  const [from, to, slope, range, allowed, mark] = cells as [string, string, string, string, string, string];
  const columns = [from.padStart(10), to.padStart(10), slope.padStart(9), range.padStart(20), allowed.padStart(8)];
  return `  ${name.padEnd(12)}${columns.join(' ')}  ${mark}`.trimEnd();
}

const number = (value: number): string => (Math.abs(value) >= 1000 ? value.toFixed(0) : value.toFixed(1));
