import { formatDuration } from '../../../operate/insight/format-duration.js';
import { dayTime } from '../parts/format.js';
import type { Mark } from './timeline-marks.js';

/** Where a tip points, in px of the timeline. */
export interface TipPlace {
  readonly left: number;
  readonly top: number;
}

interface TipProps {
  readonly mark: Mark;
  readonly place: TipPlace;
}

/** Tells about a mark beside it. Screen readers get the same text from a region that is always there. */
export function Tip({ mark, place }: TipProps) {
  const { label, detail, href } = mark;
  return (
    <div class="tip" aria-hidden="true" style={{ left: `${place.left}px`, top: `${place.top}px` }}>
      <strong>{label}</strong>
      <span class="second">{timesOf(mark)}</span>
      {detail !== undefined && <p>{detail}</p>}
      {href !== undefined && <span class="second">click or Enter: page of this run</span>}
    </div>
  );
}

/** A mark as one text. */
export function tipText(mark: Mark): string {
  const { label, detail, href } = mark;
  return [label, timesOf(mark), detail, href && 'Enter opens its page'].filter(Boolean).join('. ');
}

function timesOf({ from, to, kind }: Mark): string {
  if (from === to) return dayTime(from);
  const duration = formatDuration(to - from);
  return kind === 'permit' ? `${dayTime(from)}, until ${dayTime(to)}` : `${dayTime(from)}, ${duration}`;
}
