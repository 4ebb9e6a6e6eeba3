import { type Course, type TimedSample, settledHalf } from './course.js';
import { FIGURES, type Figure, sum } from './figures.js';
import { type Trend, trendOf } from './trend.js';

/** With fewer of them in the second half nothing can be said about growth. */
export const FEWEST_SAMPLES = 10;

/**
 * Faults as sentences with the process, the figure and its change; empty when nothing is wrong.
 *
 * @param figures those that must not grow
 */
export function verdictOf(courses: readonly Course[], figures = FIGURES): string[] {
  return courses.flatMap((course) => [...faultsOf(course), ...growthOf(course, figures), ...leftOverOf(course)]);
}

/** Grows by more than may be noise, and surely grows at all. */
export function isGrowing(figure: Figure, trend: Trend): boolean {
  return trend.slope > figure.allowed && trend.low > 0;
}

export function trendOfFigure(figure: Figure, samples: readonly TimedSample[]): Trend {
  return trendOf(samples.map((sample) => ({ at: sample.minute, value: figure.read(sample) })));
}

function faultsOf({ node, samples, faults }: Course): string[] {
  const counts = Object.entries(samples.at(-1)?.faults ?? {});
  const counted = counts
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${node}: ${kind} went from 0 to ${count}`);
  return [...counted, ...faults.map((fault) => `${node} said: ${fault}`)];
}

function growthOf(course: Course, figures: readonly Figure[]): string[] {
  const { node } = course;
  return figures.flatMap((figure) => {
    const samples = settledHalf(course, figure.warmUp);
    if (samples.length < FEWEST_SAMPLES) return [`${node}: ${figure.name} can't be judged: ${tooFew(figure, samples)}`];
    const trend = trendOfFigure(figure, samples);
    return isGrowing(figure, trend) ? [`${node}: ${sentenceFor(figure, trend, samples)}`] : [];
  });
}

/** The reason why growth of a figure can't be measured. */
export function tooFew({ warmUp }: Figure, samples: readonly TimedSample[]): string {
  const since = warmUp > 0 ? ` after minute ${warmUp}` : '';
  return `${samples.length} samples in the second half${since} are too few, run it for longer`;
}

function sentenceFor(figure: Figure, { slope, from, to }: Trend, samples: readonly TimedSample[]): string {
  const unit = figure.unit && ` ${figure.unit}`;
  const [first, last] = [samples[0]!, samples.at(-1)!];
  return (
    `${figure.name} grew from ${round(from)}${unit} in minute ${first.minute.toFixed(1)} to ${round(to)}${unit} in ` +
    `minute ${last.minute.toFixed(1)}, by ${round(slope)}${unit} a minute; up to ${figure.allowed}${unit} may be noise`
  );
}

function leftOverOf({ node, ending }: Course): string[] {
  const { wasRunning, left, exitCode, signal } = ending;
  if (!wasRunning) return [`${node}: ended in the middle of the soak (${howItEnded(exitCode, signal)})`];
  if (!left) return [`${node}: close() did not end (${howItEnded(exitCode, signal)})`];
  const timers = sum(left.timers) > 0 ? [`${node}: timers after close(): ${JSON.stringify(left.timers)}`] : [];
  // Its standard output is a pipe to the soak, and the last thing to go.
  const { PipeWrap: _pipes, ...others } = left.resources;
  const handles = sum(others) > 0 ? [`${node}: open after close(): ${JSON.stringify(others)}`] : [];
  const isClean = exitCode === 0;
  return [
    ...timers,
    ...handles,
    ...(isClean ? [] : [`${node}: did not end by itself (${howItEnded(exitCode, signal)})`]),
  ];
}

function howItEnded(exitCode?: number, signal?: string): string {
  return signal ? `by ${signal}` : `exit code ${exitCode}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
