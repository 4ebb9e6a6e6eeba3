import { signal } from '@preact/signals';

/** Cluster time in ms, updated once a second, for countdowns and ages. */
export const clusterTime = signal(Date.now());

/** Cluster time minus this browser's monotonic clock. */
let ahead = Date.now() - performance.now();

/** Takes over the time that a node answered with. */
export function setClusterTime(now: number): void {
  ahead = now - performance.now();
  tick();
}

function tick(): void {
  clusterTime.value = Math.round(ahead + performance.now());
}

/** @returns what ends it */
export function startClock(): () => void {
  const timer = setInterval(tick, 1000);
  return () => clearInterval(timer);
}
