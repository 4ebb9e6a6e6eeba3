import { formatDuration } from '../../../operate/insight/format-duration.js';
import { digits } from '../parts/format.js';

export interface Point {
  /** Cluster time in ms. */
  readonly at: number;
  readonly value: number;
}

export interface Series {
  readonly name: string;
  readonly tone: 'accent' | 'good' | 'bad';
  readonly points: readonly Point[];
}

interface TrendProps {
  /** Name of the drawing, for screen readers. */
  readonly label: string;
  readonly series: readonly Series[];
  readonly isLarge?: boolean;
}

/** Units of the drawing. The style sheet gives its size on the screen. */
const WIDTH = 300;
const HEIGHT = 60;
/** ms between two points above which the line is broken: the page was hidden meanwhile. */
const GAP = 45_000;
/** ms of the shortest time axis. */
const SHORTEST = 2 * 60_000;

/** Draws numbers over time. The label says the same in words. */
export function Trend({ label, series, isLarge = false }: TrendProps) {
  const points = series.flatMap((each) => each.points);
  const to = Math.max(...points.map(({ at }) => at));
  const from = Math.min(to - SHORTEST, ...points.map(({ at }) => at));
  const most = Math.max(1, ...points.map(({ value }) => value));
  const place = ({ at, value }: Point) =>
    `${(((at - from) / (to - from)) * WIDTH).toFixed(1)},${(HEIGHT - (value / most) * (HEIGHT - 4) - 1).toFixed(1)}`;
  return (
    <figure class={isLarge ? 'trend large' : 'trend'}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${describe(series, to - from)}`}
      >
        {series.flatMap(({ name, tone, points: all }) =>
          unbroken(all).map((part) => (
            <g key={`${name} ${part[0]!.at}`} class={tone}>
              <polygon points={area(part, place, from, to)} />
              <polyline points={part.map(place).join(' ')} />
            </g>
          )),
        )}
      </svg>
      {isLarge && (
        <figcaption>
          <span class="number">{formatDuration(to - from)} ago</span>
          <span class="number">at most {digits(most)}</span>
          <span>now</span>
        </figcaption>
      )}
    </figure>
  );
}

function area(part: readonly Point[], place: (point: Point) => string, from: number, to: number): string {
  const x = ({ at }: Point) => (((at - from) / (to - from)) * WIDTH).toFixed(1);
  return `${x(part[0]!)},${HEIGHT} ${part.map(place).join(' ')} ${x(part.at(-1)!)},${HEIGHT}`;
}

function unbroken(points: readonly Point[]): Point[][] {
  const parts: Point[][] = [];
  let last: Point | undefined;
  for (const point of points) {
    if (last && point.at - last.at <= GAP) parts.at(-1)!.push(point);
    else parts.push([point]);
    last = point;
  }
  return parts;
}

function describe(series: readonly Series[], span: number): string {
  const texts = series.map(({ name, points }) => {
    const most = Math.max(0, ...points.map(({ value }) => value));
    return `${name} ${points.at(-1)?.value ?? 0} now, at most ${most}`;
  });
  return `${texts.join('; ')}; in the last ${formatDuration(span)}`;
}
