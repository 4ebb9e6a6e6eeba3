import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { HistoryEntry, HolderState } from '../api/answers.js';
import { clusterTime } from '../live/cluster-time.js';
import { count } from '../parts/format.js';
import { theme } from '../theme.js';
import { createTimeline, dataOf, heightOf } from './timeline-drawing.js';
import { type TimelineMarks, timelineMarks } from './timeline-marks.js';

interface TimelineProps {
  readonly holders: readonly HolderState[];
  readonly runs: readonly HistoryEntry[];
}

/** Shows holders and runs on a timeline. The tables on the page contain the same data as text. */
export function Timeline({ holders, runs }: TimelineProps) {
  const now = clusterTime.value;
  const marks = timelineMarks(holders, runs, now);
  const current = useRef<TimelineMarks>(marks);
  current.current = marks;
  const target = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const height = heightOf(marks);

  useEffect(() => {
    const element = target.current!;
    const created = createTimeline(
      element,
      element.clientWidth,
      () => current.current,
      () => clusterTime.peek(),
    );
    plot.current = created;
    const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: created.height }));
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => created.redraw(false);
    scheme.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', redraw);
      created.destroy();
    };
  }, []);
  useEffect(() => {
    const created = plot.current!;
    if (created.height !== height) created.setSize({ width: created.width, height });
    if (isZoomed(created)) created.redraw(false);
    else created.setData(dataOf(marks.from, marks.to));
  }, [height, holders, runs, theme.value, Math.floor(now / 5000)]);

  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">
        Timeline <span class="second mouse-only">drag to zoom, double click to go back</span>
      </h2>
      <div class="timeline" role="img" aria-label={describe(marks)} ref={target} />
      <ul class="legend" aria-hidden="true">
        <li class="permit">permit</li>
        <li class="ok">ok</li>
        <li class="failed">failed or crashed</li>
        <li class="lost">lost its permit</li>
      </ul>
    </section>
  );
}

/** Whether the user has zoomed in. Then the range must not move. */
function isZoomed(plot: uPlot): boolean {
  const { min, max } = plot.scales['x']!;
  const [first, last] = [plot.data[0][0]!, plot.data[0].at(-1)!];
  return min != null && max != null && (min > first || max < last);
}

function describe({ lanes, marks }: TimelineMarks): string {
  const runs = marks.filter(({ kind }) => kind !== 'permit').length;
  return `${count(runs, 'run')} and ${count(marks.length - runs, 'permit')} on ${count(lanes.length, 'node')}; the history below lists them`;
}
