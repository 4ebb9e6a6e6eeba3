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
  running: 'accent',
  permit: 'accent',
  skip: 'muted',
  change: 'text',
};

export function heightOf({ lanes }: TimelineMarks): number {
  return AXIS_HEIGHT + LANE_HEIGHT * Math.max(1, lanes.length);
}

/**
 * Creates a plot with time as its x axis and nodes as its y axis. uPlot draws the axes, and zooms when the user drags
 * (a double click zooms out). {@link drawMarks} draws the marks.
 *
 * @param current returns the marks; called at each drawing
 * @param chosen returns the mark that stands out; called at each drawing
 * @param now returns cluster time in ms; called at each drawing
 */
export function createTimeline(
  target: HTMLElement,
  width: number,
  current: () => TimelineMarks,
  chosen: () => Mark | undefined,
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
    hooks: { draw: [(plot) => drawMarks(plot, current().marks, { chosen: chosen(), now: now() })] },
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

interface Shown {
  readonly chosen: Mark | undefined;
  /** Cluster time in ms. */
  readonly now: number;
}

function drawMarks(plot: uPlot, marks: readonly Mark[], { chosen, now }: Shown): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const mark of marks) DRAWINGS[mark.kind](plot, mark);
  drawNow(plot, now);
  if (chosen) drawFrame(plot, chosen);
  ctx.restore();
}

type Drawing = (plot: uPlot, mark: Mark) => void;

const DRAWINGS: Record<Mark['kind'], Drawing> = {
  ok: drawRun,
  failed: drawRun,
  crashed: drawRun,
  lost: drawRun,
  running: drawRun,
  permit: drawPermit,
  skip: drawSkip,
  change: drawChange,
};

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** px by which a point can be missed. */
const POINT = 10;

/**
 * The place of a mark, in px of the plot's area.
 *
 * @param isCanvas whether pixels of the canvas are meant, with its axes; default: of the page
 */
export function boxOf(plot: uPlot, { kind, lane, from, to }: Mark, isCanvas = false): Box {
  const ratio = isCanvas ? devicePixelRatio : 1;
  const start = plot.valToPos(from / 1000, 'x', isCanvas);
  const isPoint = kind === 'skip' || kind === 'change';
  const least = (isPoint ? POINT : NARROWEST_BAR) * ratio;
  const width = Math.max(least, plot.valToPos(to / 1000, 'x', isCanvas) - start);
  const left = isPoint ? start - width / 2 : start;
  if (lane === undefined) {
    const top = isCanvas ? plot.bbox.top : 0;
    return { left, width, top, height: isCanvas ? plot.bbox.height : plot.over.clientHeight };
  }
  const height = (kind === 'permit' ? BAR_HEIGHT + 8 : BAR_HEIGHT) * ratio;
  return { left, width, top: plot.valToPos(-lane, 'lane', isCanvas) - height / 2, height };
}

/** px around a mark in which the mouse still hits it. */
const NEAR = 3;

/** The uppermost mark at a place of the plot's area. A run lies above its permit. */
export function markAt(plot: uPlot, marks: readonly Mark[], x: number, y: number): Mark | undefined {
  const hit = marks.filter((mark) => {
    const { left, top, width, height } = boxOf(plot, mark);
    return x >= left - NEAR && x <= left + width + NEAR && y >= top - NEAR && y <= top + height + NEAR;
  });
  return (
    hit.findLast(({ kind }) => kind !== 'permit' && kind !== 'change') ??
    hit.findLast(({ kind }) => kind === 'change') ??
    hit.at(-1)
  );
}

/** A permit is a frame and a run a filled bar, because a run lies inside its permit. */
function drawPermit(plot: uPlot, mark: Mark): void {
  const { ctx } = plot;
  round(plot, boxOf(plot, mark, true));
  ctx.fillStyle = color('accent-soft');
  ctx.fill();
  ctx.strokeStyle = color('accent');
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.stroke();
}

function drawRun(plot: uPlot, mark: Mark): void {
  round(plot, boxOf(plot, mark, true));
  plot.ctx.fillStyle = color(COLORS[mark.kind]);
  plot.ctx.fill();
}

/** A diamond without a filling: nothing ran. */
function drawSkip(plot: uPlot, mark: Mark): void {
  const { ctx } = plot;
  const { left, top, width, height } = boxOf(plot, mark, true);
  const [x, y, half] = [left + width / 2, top + height / 2, width / 2];
  ctx.beginPath();
  ctx.moveTo(x - half, y);
  ctx.lineTo(x, y - half);
  ctx.lineTo(x + half, y);
  ctx.lineTo(x, y + half);
  ctx.closePath();
  ctx.fillStyle = color('surface');
  ctx.fill();
  ctx.strokeStyle = color(COLORS.skip);
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.stroke();
}

/** A line across all lanes, with a flag at its top. */
function drawChange(plot: uPlot, mark: Mark): void {
  const { ctx } = plot;
  const { left, top, width, height } = boxOf(plot, mark, true);
  const x = left + width / 2;
  ctx.fillStyle = color(COLORS.change);
  ctx.fillRect(x - devicePixelRatio / 2, top, devicePixelRatio, height);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x + width * 0.8, top + width * 0.4);
  ctx.lineTo(x, top + width * 0.8);
  ctx.fill();
}

/** The frame of the mark that stands out. */
function drawFrame(plot: uPlot, mark: Mark): void {
  const { ctx } = plot;
  const { left, top, width, height } = boxOf(plot, mark, true);
  const space = NEAR * devicePixelRatio;
  round(plot, { left: left - space, top: top - space, width: width + 2 * space, height: height + 2 * space });
  ctx.strokeStyle = color('text');
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.stroke();
}

function round({ ctx }: uPlot, { left, top, width, height }: Box): void {
  ctx.beginPath();
  ctx.roundRect(left, top, width, height, 3 * devicePixelRatio);
}

function drawNow(plot: uPlot, now: number): void {
  const { ctx, bbox } = plot;
  const x = plot.valToPos(now / 1000, 'x', true);
  ctx.beginPath();
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.strokeStyle = color('muted');
  ctx.lineWidth = devicePixelRatio;
  ctx.stroke();
  ctx.setLineDash([]);
}
