import { ReservedNameError, show } from '../../core/decision/index.js';

/** Prefix of the types of schedules' tasks. */
export const SCHEDULE_TYPE = 'cron.';

/** Id of the task of a tick: "cron.nightly:2026-11-23T03:00:00Z". */
export function tickId(name: string, tick: number): string {
  return `${SCHEDULE_TYPE}${name}:${iso(tick)}`;
}

/** Planned times have whole seconds. */
export function iso(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}

/** Whether an id is one that {@link tickId} makes. A task of such an id would stand for the tick, or in its place. */
export function isTickId(id: string): boolean {
  if (!id.startsWith(SCHEDULE_TYPE)) return false;
  const text = id.slice(id.indexOf(':') + 1);
  const time = Date.parse(text);
  return !Number.isNaN(time) && iso(time) === text;
}

/**
 * Checks types that come from outside of the application's code: over HTTP, or with the command line. The tasks of a schedule
 * are made by the nodes that have it, and no program may submit, claim or end one.
 *
 * @throws ReservedNameError
 */
export function expectNoSchedule(...types: readonly string[]): void {
  const reserved = types.find((type) => type.startsWith(SCHEDULE_TYPE));
  if (reserved === undefined) return;
  const why = `${show(reserved)}: the prefix "${SCHEDULE_TYPE}" is reserved for schedules, take another type`;
  throw new ReservedNameError('a type of tasks', [why]);
}
