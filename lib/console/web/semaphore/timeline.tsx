import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { clusterTime } from '../live/cluster-time.js';
import { count } from '../parts/format.js';
import { goTo } from '../parts/router.js';
import { theme } from '../parts/theme.js';
import { boxOf, createTimeline, dataOf, heightOf, markAt } from './timeline-drawing.js';
import { type Mark, type TimelineData, type TimelineMarks, keyOf, timelineMarks } from './timeline-marks.js';
import { Tip, type TipPlace, tipText } from './timeline-tip.js';

/** The mark that the mouse points at, or that the keyboard has reached. */
interface Choice {
  readonly key: string;
  readonly isByKey: boolean;
}

/** Shows holders, runs, skips and changes on a timeline. The tables on the page contain the same data as text. */
export function Timeline(data: TimelineData) {
  const now = clusterTime.value;
  const marks = timelineMarks(data, now);
  const [choice, setChoice] = useState<Choice>();
  const chosen = choice && marks.marks.find((mark) => keyOf(mark) === choice.key);
  const current = useRef({ marks, chosen });
  current.current = { marks, chosen };
  const target = useRef<HTMLDivElement>(null);
  const plot = usePlot(target, current);
  const height = heightOf(marks);

  useEffect(() => {
    const created = plot.current!;
    if (created.height !== height) created.setSize({ width: created.width, height });
    if (isZoomed(created)) created.redraw(false);
    else created.setData(dataOf(marks.from, marks.to));
  }, [height, data.holders, data.history, data.changes, theme.value, Math.floor(now / 5000)]);
  useEffect(() => plot.current!.redraw(false), [choice?.key]);

  const pointAt = (mark: Mark | undefined, isByKey: boolean) => {
    if (mark && isByKey) bringIntoView(plot.current!, mark, marks);
    setChoice(mark && { key: keyOf(mark), isByKey });
  };
  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">
        Timeline <span class="second mouse-only">drag to zoom, double click to go back</span>
      </h2>
      <div class="timeline-frame">
        <div
          class={chosen?.href === undefined ? 'timeline' : 'timeline linked'}
          role="group"
          aria-label={describe(marks)}
          tabIndex={0}
          ref={target}
          {...pointing(plot, marks, chosen, pointAt)}
        />
        {chosen && plot.current && <Tip mark={chosen} place={placeOf(plot.current, chosen)} />}
        <p class="visually-hidden" role="status">
          {chosen && choice.isByKey && tipText(chosen)}
        </p>
      </div>
      <ul class="legend" aria-hidden="true">
        <li class="permit">permit</li>
        <li class="ok">ok</li>
        <li class="running">running</li>
        <li class="failed">failed or crashed</li>
        <li class="lost">lost its permit</li>
        <li class="skipped">skipped</li>
        <li class="change">change</li>
      </ul>
    </section>
  );
}

type Current = { readonly current: { readonly marks: TimelineMarks; readonly chosen: Mark | undefined } };
type Place<T> = { readonly current: T | null | undefined };

/** Creates the plot, and draws it again when its place or the colours change. */
function usePlot(target: Place<HTMLDivElement>, current: Current): Place<uPlot> {
  const plot = useRef<uPlot>(undefined);
  useEffect(() => {
    const element = target.current!;
    const created = createTimeline(
      element,
      element.clientWidth,
      () => current.current.marks,
      () => current.current.chosen,
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
  return plot;
}

/** px by which the mouse may move in a click. More is a drag, which zooms. */
const STILL = 3;

/** Handlers with which the mouse points at marks, and the keyboard goes through them by time. */
function pointing(
  plot: Place<uPlot>,
  { marks }: TimelineMarks,
  chosen: Mark | undefined,
  pointAt: (mark: Mark | undefined, isByKey: boolean) => void,
) {
  const inOrder = marks.toSorted((one, other) => one.from - other.from);
  const open = () => chosen?.href !== undefined && goTo(chosen.href);
  const reach = (index: number) => pointAt(inOrder[Math.min(inOrder.length - 1, Math.max(0, index))], true);
  return {
    onMouseMove: ({ clientX, clientY }: MouseEvent) => {
      const { left, top } = plot.current!.over.getBoundingClientRect();
      pointAt(markAt(plot.current!, marks, clientX - left, clientY - top), false);
    },
    onMouseLeave: () => pointAt(undefined, false),
    onMouseDown: ({ clientX }: MouseEvent) => (downAt = clientX),
    onClick: ({ clientX }: MouseEvent) => Math.abs(clientX - downAt) <= STILL && open(),
    onFocus: ({ currentTarget }: FocusEvent) =>
      (currentTarget as Element).matches(':focus-visible') && !chosen && reach(inOrder.length - 1),
    onBlur: () => pointAt(undefined, false),
    onKeyDown: (event: KeyboardEvent) => {
      const index = chosen ? inOrder.indexOf(chosen) : inOrder.length;
      const keys: Record<string, () => void> = {
        ArrowLeft: () => reach(index - 1),
        ArrowRight: () => reach(index + 1),
        Home: () => reach(0),
        End: () => reach(inOrder.length - 1),
        Escape: () => pointAt(undefined, false),
        Enter: open,
      };
      const act = keys[event.key];
      if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      act();
    },
  };
}

/** Where the mouse button went down, in px. */
let downAt = 0;

/** Half of the width of a tip in px, as the style sheet has it. */
const HALF_TIP = 140;
/** px between a mark and its tip. */
const BELOW = 8;

/** Below the visible part of the mark, and not beyond the sides. */
function placeOf(plot: uPlot, mark: Mark): TipPlace {
  const { left, width, top, height } = boxOf(plot, mark);
  const { offsetLeft, offsetTop, clientWidth, clientHeight } = plot.over;
  const [begin, end] = [Math.max(0, left), Math.min(clientWidth, left + width)];
  const middle = offsetLeft + (begin + end) / 2;
  const last = Math.max(HALF_TIP, plot.width - HALF_TIP);
  return {
    left: Math.min(last, Math.max(HALF_TIP, middle)),
    top: offsetTop + Math.min(clientHeight, top + height) + BELOW,
  };
}

/** Zooms out if a mark is out of view. */
function bringIntoView(plot: uPlot, mark: Mark, { from, to }: TimelineMarks): void {
  const { min, max } = plot.scales['x']!;
  if (min == null || max == null || (mark.to / 1000 >= min && mark.from / 1000 <= max)) return;
  plot.setData(dataOf(from, to));
}

/** Whether the user has zoomed in. Then the range must not move. */
function isZoomed(plot: uPlot): boolean {
  const { min, max } = plot.scales['x']!;
  const [first, last] = [plot.data[0][0]!, plot.data[0].at(-1)!];
  return min != null && max != null && (min > first || max < last);
}

function describe({ lanes, marks }: TimelineMarks): string {
  const number = (...kinds: Mark['kind'][]) => marks.filter(({ kind }) => kinds.includes(kind)).length;
  const runs = number('ok', 'failed', 'crashed', 'lost', 'running');
  const parts = [count(runs, 'run'), count(number('skip'), 'skip'), count(number('change'), 'change')];
  return `Timeline with ${parts.join(', ')} and ${count(number('permit'), 'permit')} on ${count(lanes.length, 'node')}; arrow keys go through them, and the tables below list them`;
}
