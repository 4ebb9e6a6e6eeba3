/**
 * Counts the timers of the whole process. `process.getActiveResourcesInfo()` leaves out those that were unref'ed, and all
 * timers of the gatekeeper's background are. Must be imported before anything that sets timers.
 */
const timers = new Map<NodeJS.Timeout, Setting>();

/** The place where a timer was set. Its text is made only on demand. */
class Setting extends Error {}

const FRAMES = 8;
const NOT_THE_PLACE = /counted-timers|node-clock|node:/;

const { setTimeout, setInterval } = globalThis;
globalThis.setTimeout = counted(setTimeout);
globalThis.setInterval = counted(setInterval);

/** How many timers may still run, by the place that set them: "lease.js:101". */
export function livingTimers(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [timer, setting] of timers) {
    if (isOver(timer)) timers.delete(timer);
    else counts[placeOf(setting)] = (counts[placeOf(setting)] ?? 0) + 1;
  }
  return counts;
}

function counted<T extends (...args: never[]) => NodeJS.Timeout>(set: T): T {
  const count = (...args: Parameters<T>): NodeJS.Timeout => {
    const timer = set(...args);
    timers.set(timer, settingHere());
    return timer;
  };
  return Object.assign(count, set) as unknown as T;
}

function settingHere(): Setting {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const setting = new Setting();
  Error.stackTraceLimit = stackTraceLimit;
  return setting;
}

function placeOf({ stack = '' }: Setting): string {
  const frame = stack.split('\n').find((line) => line.includes(' at ') && !NOT_THE_PLACE.test(line));
  return /([^/]+:\d+):\d+\)?$/.exec(frame ?? '')?.[1] ?? 'unknown';
}

/** Node's own mark of a timer that ran or was cleared; nothing public tells. */
function isOver(timer: NodeJS.Timeout): boolean {
  return (timer as unknown as { _destroyed: boolean })._destroyed;
}
