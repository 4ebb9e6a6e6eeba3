import { z } from 'zod';
import {
  MOST_PATTERNS,
  type MaintenanceWindow,
  type OpenWindow,
  UnknownMaintenanceError,
  windowReasonSchema,
} from '../../gatekeeper/index.js';
import { onlyFields } from '../../core/decision/index.js';
import { type Sees, expectSeen } from './caller.js';
import {
  maintenanceEndSchema,
  maintenanceStartSchema,
  openWindowSchema,
  windowSchema,
} from '../../operate/definitions/maintenance/maintenance-answers.js';
import { list } from '../../core/decision/answer-values.js';
import { limit, name, pattern, reason } from './fields.js';
import { operation } from './operation.js';

/* The calls for maintenance windows. */

/** A window as lists show it: of long lists only the beginning. */
export type WindowAnswer = z.output<typeof windowSchema>;

const windowReason = windowReasonSchema.meta({ ...reason.meta(), maxLength: 700 });
const windowParams = onlyFields({ window: name });

/** Names per list of a window in the list of all windows. The numbers beside them count all. */
const MOST_NAMED = 100;

export const MAINTENANCE_OPERATIONS = {
  maintenance: operation({
    operationId: 'listMaintenance',
    method: 'GET',
    path: 'api/maintenance',
    summary: 'The maintenance windows, with what they still wait for',
    role: 'view',
    answer: z.object({ windows: list(windowSchema) }).meta({ id: 'MaintenanceList' }),
    problems: ['corrupt-record', 'newer-record'],
    run: async ({ definitions }, _input, { sees }) => {
      const windows = await definitions.maintenance.list();
      return { windows: windows.flatMap((window) => answerOf(window, sees, MOST_NAMED) ?? []) };
    },
  }),
  openWindows: operation({
    operationId: 'listOpenWindows',
    method: 'GET',
    path: 'api/open-windows',
    summary: 'The names of the open maintenance windows: cheap however many semaphores there are, so poll this one',
    role: 'view',
    answer: z.object({ windows: list(openWindowSchema) }).meta({ id: 'OpenWindows' }),
    problems: ['corrupt-record', 'newer-record'],
    run: async ({ definitions }, _input, { sees = () => true }) => {
      const windows = await definitions.maintenance.open();
      const isSeen = ({ listed }: OpenWindow) => listed.length === 0 || listed.some(sees);
      return { windows: windows.filter(isSeen).map(({ listed: _listed, ...window }) => window) };
    },
  }),
  maintenanceWindow: operation({
    operationId: 'getMaintenance',
    method: 'GET',
    path: 'api/maintenance/:window',
    summary: 'One maintenance window',
    role: 'view',
    params: windowParams,
    answer: windowSchema,
    problems: ['unknown-maintenance', 'corrupt-record', 'newer-record'],
    run: async ({ definitions }, { params: { window } }, { sees }) => {
      const answer = answerOf(await definitions.maintenance.get(window), sees);
      if (!answer) throw new UnknownMaintenanceError(window);
      return answer;
    },
  }),
  startMaintenance: operation({
    operationId: 'startMaintenance',
    method: 'POST',
    path: 'api/maintenance',
    summary: 'Start a maintenance window: pause what matches, and remember it; repeat the call to continue',
    role: 'operate',
    writes: true,
    changesMany: true,
    body: onlyFields({
      window: name,
      names: z
        .array(pattern)
        .min(1, { error: 'has no pattern: give 1 or more' })
        .max(MOST_PATTERNS, { error: `has more than ${MOST_PATTERNS} patterns` }),
      reason: windowReason.optional(),
      limit: limit.optional(),
    }).meta({ id: 'StartMaintenanceRequest' }),
    answer: maintenanceStartSchema,
    problems: ['nothing-matches', 'maintenance-conflict'],
    run: ({ definitions }, { body }, caller) => {
      const request = { ...body, only: caller.sees, by: caller.user };
      const start = (onPlanned: (count: number) => void) => definitions.maintenance.start({ ...request, onPlanned });
      return caller.limits.changes.ofPause(caller, start, ({ paused }) => paused.length);
    },
  }),
  endMaintenance: operation({
    operationId: 'endMaintenance',
    method: 'POST',
    path: 'api/maintenance/:window/end',
    summary:
      'End a maintenance window: resume what it paused and what has not changed since; repeat the call to continue',
    role: 'operate',
    writes: true,
    changesMany: true,
    params: windowParams,
    body: onlyFields({ reason: reason.optional(), limit: limit.optional() }).meta({ id: 'EndMaintenanceRequest' }),
    answer: maintenanceEndSchema,
    problems: ['unknown-maintenance'],
    run: ({ definitions }, { params: { window }, body }, caller) => {
      // A limited token must not resume the semaphores of others, nor end their window half.
      const onWindow = (names: readonly string[]) => {
        for (const each of names) expectSeen(caller, { name: each });
      };
      const options = { ...body, by: caller.user, onWindow };
      const end = (onPlanned: (count: number) => void) =>
        definitions.maintenance.end(window, { ...options, onPlanned });
      return caller.limits.changes.ofMany(caller, end, ({ resumed }) => resumed.length);
    },
  }),
};

/** The part of a window that a caller may see. @returns undefined if it has no semaphore that the caller may see */
function answerOf(window: MaintenanceWindow, sees: Sees = () => true, most = Infinity): WindowAnswer | undefined {
  const semaphores = window.semaphores.filter(sees);
  const left = window.left.filter(({ name }) => sees(name));
  const held = window.held.filter(({ semaphore }) => sees(semaphore));
  const running = window.running.filter(sees);
  const unreadable = window.unreadable.filter(sees);
  const hidden = window.semaphores.length + window.left.length - semaphores.length - left.length;
  if (hidden > 0 && semaphores.length + left.length === 0) return undefined;
  return {
    ...window,
    paused: semaphores.length,
    semaphores: semaphores.slice(0, most),
    left: left.slice(0, most),
    held: held.slice(0, most),
    notPaused: running.length,
    running: running.slice(0, most),
    due: window.due.filter(sees).slice(0, most),
    unreadable: unreadable.slice(0, most),
  };
}
