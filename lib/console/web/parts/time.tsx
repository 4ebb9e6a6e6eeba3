import { clusterTime } from '../live/cluster-time.js';
import { countdown, dateTime, dayTime, distance, isoTime, shortTime, times } from './format.js';

/** Shows a running countdown. */
export function Countdown({ until }: { readonly until: number }) {
  const left = until - clusterTime.value;
  return (
    <time
      class={left <= 0 ? 'countdown over' : 'countdown'}
      dateTime={isoTime(until)}
      title={`until ${dateTime(until)}`}
    >
      {left <= 0 ? 'ending' : countdown(left)}
    </time>
  );
}

/** Shows the distance of a time from now, such as "12 s ago", unless the user prefers the time itself. */
export function Distance({ at }: { readonly at: number }) {
  const away = distance(at, clusterTime.value);
  const isRelative = times.value === 'relative';
  return (
    <time dateTime={isoTime(at)} title={isRelative ? dateTime(at) : away}>
      {isRelative ? away : shortTime(at, clusterTime.value)}
    </time>
  );
}

export function DateTime({ at }: { readonly at: number }) {
  return (
    <time dateTime={isoTime(at)} title={dateTime(at)}>
      {dayTime(at)}
    </time>
  );
}
