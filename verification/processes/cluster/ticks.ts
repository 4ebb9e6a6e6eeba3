/** ms between two starts of each job in verification/apps, at whole seconds. */
export const TICK = 1000;

/** ms that a run may begin after its tick: cron's timer, the store, and a machine that is busy. */
export const LATE_TICK = 500;

/** The first tick at or after a moment, in ms since the epoch. */
export const tickAfter = (wall: number): number => Math.ceil(wall / TICK) * TICK;
