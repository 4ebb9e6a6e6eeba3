import { signal } from '@preact/signals';

/** Cluster time, ms since the epoch. It is updated once a second, for countdowns and ages. */
export const clusterTime = signal(Date.now());

/** Cluster time minus this browser's monotonic clock, in ms. */
let ahead = Date.now() - performance.now();

/** Sets the time from an answer of a node. */
export function setClusterTime(now: number): void {
  ahead = now - performance.now();
  tick();
}

function tick(): void {
  clusterTime.value = Math.round(ahead + performance.now());
}

/** Updates the time once a second. @returns a function that stops this */
export function startClock(): () => void {
  const timer = setInterval(tick, 1000);
  return () => clearInterval(timer);
}
