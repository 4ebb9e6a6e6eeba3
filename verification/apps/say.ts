/** One thing that happened in a process, as one line of JSON on its standard output. */
export interface Said {
  readonly event: string;
  /** ms by the monotonic clock that all processes of one machine share. */
  readonly at: number;
  /** ms since the epoch by the process's own wall clock, which a test may have set wrong. */
  readonly wall: number;
  readonly [field: string]: unknown;
}

/** ms; `performance.now()` counts from the start of its own process, this one from the start of the machine. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Pipes are written synchronously on POSIX: what was said is there even if SIGKILL comes next. */
export function say(event: string, fields: object = {}): void {
  const said: Said = { event, at: sharedNow(), wall: Date.now(), ...fields };
  process.stdout.write(`${JSON.stringify(said, messagesOfErrors)}\n`);
}

function messagesOfErrors(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}
