import { clusterTime } from '../live/cluster-time.js';
import { countdown, dateTime, distance, isoTime } from './format.js';

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

/** Shows the distance of a time from now, such as "12 s ago". */
export function Distance({ at }: { readonly at: number }) {
  return (
    <time dateTime={isoTime(at)} title={dateTime(at)}>
      {distance(at, clusterTime.value)}
    </time>
  );
}

export function DateTime({ at }: { readonly at: number }) {
  return <time dateTime={isoTime(at)}>{dateTime(at)}</time>;
}
