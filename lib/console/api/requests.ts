import { z } from 'zod';
import {
  duration,
  expectedRevision,
  flag,
  flagText,
  limit,
  limitText,
  name,
  names,
  pattern,
  permitId,
  permits,
  reason,
  text,
} from './fields.js';

/** What calls bring along. Unknown fields are faults: a misspelled one would be silently ignored. */

const change = { reason: reason.optional() };
const edited = {
  groupPattern: pattern.optional(),
  acquirerPattern: pattern.optional(),
  permits: permits.optional(),
};

export const nameParams = z.strictObject({ name });
export const permitParams = z.strictObject({ id: permitId });

export const changeBody = z.strictObject({ ...change, expectedRevision: expectedRevision.optional() });
export const removeBody = z.strictObject(change);
export const revokeBody = z.strictObject({ permitId, ...change });
export const defineBody = z.strictObject({ name, ...edited, duration, ...change });
export const editBody = z.strictObject({
  ...edited,
  duration: duration.optional(),
  expectedRevision: expectedRevision.optional(),
  ...change,
});

export const previewBody = z.strictObject({
  name: text(1000),
  groupPattern: text(10_000),
  acquirerPattern: text(10_000),
  permits: z.unknown(),
  duration: z.unknown(),
});

const MOST_SHOWN = 10_000;

export const semaphoresQuery = z.strictObject({
  search: text(1000).optional(),
  paused: flagText.optional(),
  overridden: flagText.optional(),
  held: flagText.optional(),
});

export const entriesQuery = z.strictObject({ semaphore: name.optional(), limit: limitText(MOST_SHOWN, 100) });

export const bulkBody = z.strictObject({ names: names.optional(), limit: limit.optional(), ...change });

export const migrationBody = z.strictObject({
  names: names.optional(),
  group: name.optional(),
  to: z.strictObject({ groupPattern: pattern.optional(), acquirerPattern: pattern.optional() }),
  dryRun: flag.default(true),
  limit: limit.optional(),
  ...change,
});

/** ms */
export const LONGEST_WAIT = 60_000;

export const takeBody = z.strictObject({
  semaphore: name,
  holder: name.optional(),
  acquirer: name.optional(),
  group: name.optional(),
  duration: duration.optional(),
  wait: z
    .number({ error: 'is not a number of ms' })
    .min(0, { error: 'is less than 0 ms' })
    .max(LONGEST_WAIT, { error: `is more than ${LONGEST_WAIT} ms: ask again when it is over` })
    .default(0),
});

export const refreshBody = z.strictObject({
  semaphore: name,
  token: z.int({ error: 'is not a fencing token' }).positive({ error: 'is not a fencing token' }),
  duration: duration.optional(),
});

export const releaseBody = z.strictObject({ semaphore: name });
