import type { ComponentChildren } from 'preact';
import type { Tone } from './badge.js';
import { DateTime, Distance } from './time.js';

/** One event of a run or a task. */
export interface StoryEntry {
  /** Cluster time in ms. */
  readonly at: number;
  readonly title: string;
  readonly detail?: string;
  readonly tone?: Tone;
}

interface StoryProps {
  /** Oldest first. */
  readonly entries: readonly StoryEntry[];
  /** Items that follow. */
  readonly children?: ComponentChildren;
}

/** Events in their order. */
export function Story({ entries, children }: StoryProps) {
  return (
    <ol class="story">
      {entries.map(({ at, title, detail, tone }) => (
        <li key={`${at} ${title}`} class={tone ?? ''}>
          <strong>{title}</strong> <Distance at={at} />
          <span class="second">
            <DateTime at={at} />
          </span>
          {detail !== undefined && <p>{detail}</p>}
        </li>
      ))}
      {children}
    </ol>
  );
}

interface LaterProps {
  readonly title: string;
  readonly at: number;
}

/** An event that is still to come. */
export function Later({ title, at }: LaterProps) {
  return (
    <li class="later">
      {title} <Distance at={at} />
      <span class="second">
        <DateTime at={at} />
      </span>
    </li>
  );
}
