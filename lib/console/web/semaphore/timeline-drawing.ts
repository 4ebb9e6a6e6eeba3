import uPlot from 'uplot';
import { timeFormat } from '../parts/format.js';
import type { Mark, TimelineMarks } from './timeline-marks.js';

/** px */
const LANE_HEIGHT = 34;
const BAR_HEIGHT = 16;
const AXIS_HEIGHT = 64;
/** Minimum width in px, so that a short run is visible. */
const NARROWEST_BAR = 3;

/** Reads a colour of the theme. */
function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const COLORS: Record<Mark['kind'], string> = {
  ok: 'good',
  failed: 'bad',
  crashed: 'bad',
  lost: 'warning',
  permit: 'accent',
};

export function heightOf({ lanes }: TimelineMarks): number {
  return AXIS_HEIGHT + LANE_HEIGHT * Math.max(1, lanes.length);
}

/**
 * Creates a plot with time as its x axis and nodes as its y axis. uPlot draws the axes, and zooms when the user drags
 * (a double click zooms out). {@link drawBars} draws the bars.
 *
 * @param current returns the bars; called at each drawing
 * @param now returns cluster time in ms; called at each drawing
 */
export function createTimeline(
  target: HTMLElement,
  width: number,
  current: () => TimelineMarks,
  now: () => number,
): uPlot {
  const { from, to } = current();
  const axis = {
    stroke: () => color('muted'),
    ticks: { stroke: () => color('line') },
    font: '12px Roboto, system-ui, sans-serif',
  };
  const options: uPlot.Options = {
    width,
    height: heightOf(current()),
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { x: { time: true }, lane: { range: () => laneRange(current()) } },
    axes: [
      {
        ...axis,
        grid: { stroke: () => color('line'), width: 1 },
        space: 80,
        values: (_, splits, __, ___, increment) => splits.map((split) => timeLabel(split, increment)),
      },
      {
        ...axis,
        scale: 'lane',
        size: (_, values) => 20 + 7 * Math.min(18, Math.max(4, ...(values ?? []).map((value) => value.length))),
        grid: { show: false },
        splits: () => current().lanes.map((_, lane) => -lane),
        values: (_, splits) => splits.map((split) => shortened(current().lanes[-split] ?? '')),
      },
    ],
    series: [{}, { scale: 'lane', show: true, stroke: 'transparent', points: { show: false } }],
    hooks: { draw: [(plot) => drawBars(plot, current().marks, now())] },
  };
  return new uPlot(options, dataOf(from, to), target);
}

const DAY = 86_400;
const day = timeFormat({ month: 'short', day: 'numeric' });
const minute = timeFormat({ hour: '2-digit', minute: '2-digit' });
const second = timeFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit' });

/**
 * @param at seconds since the epoch
 * @param increment seconds between two labels
 */
function timeLabel(at: number, increment: number): string {
  const format = increment >= DAY ? day : increment >= 60 ? minute : second;
  return format(at * 1000);
}

/** Data for uPlot. Only their time range counts, because uPlot does not draw the bars. */
export function dataOf(from: number, to: number): uPlot.AlignedData {
  return [
    [from / 1000, to / 1000],
    [null, null],
  ];
}

function laneRange({ lanes }: TimelineMarks): [number, number] {
  return [-Math.max(1, lanes.length) + 0.5, 0.5];
}

function shortened(name: string): string {
  return name.length > 18 ? `${name.slice(0, 17)}…` : name;
}

function drawBars(plot: uPlot, marks: readonly Mark[], now: number): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const mark of marks) drawBar(plot, mark, ratio);
  drawNow(plot, now, ratio);
  ctx.restore();
}

/** Draws a permit as a frame and a run as a filled bar, because a run lies inside its permit. */
function drawBar(plot: uPlot, { lane, from, to, kind }: Mark, ratio: number): void {
  const { ctx } = plot;
  const left = plot.valToPos(from / 1000, 'x', true);
  const width = Math.max(NARROWEST_BAR * ratio, plot.valToPos(to / 1000, 'x', true) - left);
  const height = (kind === 'permit' ? BAR_HEIGHT + 8 : BAR_HEIGHT) * ratio;
  const top = plot.valToPos(-lane, 'lane', true) - height / 2;
  ctx.beginPath();
  ctx.roundRect(left, top, width, height, 3 * ratio);
  if (kind === 'permit') {
    ctx.fillStyle = color('accent-soft');
    ctx.fill();
    ctx.strokeStyle = color('accent');
    ctx.lineWidth = 1.5 * ratio;
    ctx.stroke();
  } else {
    ctx.fillStyle = color(COLORS[kind]);
    ctx.fill();
  }
}

function drawNow(plot: uPlot, now: number, ratio: number): void {
  const { ctx, bbox } = plot;
  const x = plot.valToPos(now / 1000, 'x', true);
  ctx.beginPath();
  ctx.setLineDash([4 * ratio, 4 * ratio]);
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.strokeStyle = color('muted');
  ctx.lineWidth = ratio;
  ctx.stroke();
}
