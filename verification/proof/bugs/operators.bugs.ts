import type { Bug, Layer } from './bug.js';

const unit = (spec: string): Layer => ({ kind: 'specs', title: 'unit', specs: [`test/${spec}.spec.ts`] });
const LOST_ANSWERS = unit('operate/definitions/lost-answers');

/** Mistakes with windows, undo, runs by hand, missed runs and alerts: mostly with writes that fail or give no answer. */
export const OPERATORS_BUGS: readonly Bug[] = [
  {
    name: 'window-pauses-unlisted',
    why: 'a window lists its semaphores only after it has paused them: a process that dies leaves pauses in no window',
    patches: [
      {
        file: 'lib/operate/definitions/maintenance/window-start.ts',
        find: 'return { windows: replaced(windows, next), result: next.entries.filter(([each]) => wanted.has(each)) };',
        replace: 'return { result: next.entries.filter(([each]) => wanted.has(each)) };',
      },
    ],
    layer: LOST_ANSWERS,
  },
  {
    name: 'window-forgets-unfinished',
    why: 'an end drops its window although some resumes failed: their semaphores stay paused in no window',
    patches: [
      {
        file: 'lib/operate/definitions/maintenance/maintenance.ts',
        find: 'if (length > 0) return { windows: replaced(windows, next), result: length };',
        replace: '',
      },
    ],
    layer: LOST_ANSWERS,
  },
  {
    name: 'resume-without-its-id',
    why: 'a resume has another id in each try: a second end takes the resume of the first for a change by a person',
    patches: [
      {
        file: 'lib/operate/definitions/maintenance/pausing.ts',
        find: "record?.change?.id === id ? 'resumed'",
        replace: "record?.change?.id === name ? 'resumed'",
      },
    ],
    layer: LOST_ANSWERS,
  },
  {
    name: 'pauses-after-the-end',
    why: 'a start pauses a semaphore although the window has ended meanwhile: if it dies then, the pause is in no window',
    patches: [
      {
        file: 'lib/operate/definitions/maintenance/pausing.ts',
        find: 'record && wasNeverPaused(entry, record) ? pause(',
        replace: 'record ? pause(',
      },
    ],
    layer: unit('operate/definitions/overlapping-windows'),
  },
  {
    name: 'left-to-a-pause-to-come',
    why: 'an end leaves a semaphore to a window that has not paused it yet: a late pause of the ended one is in no window',
    patches: [
      {
        file: 'lib/operate/definitions/maintenance/pausing.ts',
        find: "if ('entry' in (await pauseEntry(writer, entry, author, { bulk: window.id }))) return window.name;",
        replace: 'return window.name;',
      },
    ],
    layer: unit('operate/definitions/overlapping-ends'),
  },
  {
    name: 'doubtful-change-unnoted',
    why: 'a change whose answer was lost, and whose call failed, has no entry in the audit log',
    patches: [
      {
        file: 'lib/operate/definitions/definition-writer.ts',
        find: 'if (tried && isDoubtful)',
        replace: 'if (tried && !isDoubtful)',
      },
    ],
    layer: unit('operate/definitions/unknown-changes'),
  },
  {
    name: 'undo-overwrites-later',
    why: 'an undo does not look whether its change is still the last one: it overwrites the edit of another person',
    patches: [
      {
        file: 'lib/operate/definitions/undo/undo.ts',
        find: '        expectStillLast(change, { record, ...present });\n',
        replace: '',
      },
    ],
    layer: LOST_ANSWERS,
  },
  {
    name: 'changes-unlisted',
    why: 'a change of many changes definitions before the store has its list: what a process that dies has changed can not be undone',
    patches: [
      {
        file: 'lib/operate/definitions/change-sets/change-sets.ts',
        find: 'await forEachLimit(texts, ([ref, page]) => this.#write(ref, page));',
        replace: 'void forEachLimit([], ([ref, page]: (typeof texts)[number]) => this.#write(ref, page));',
      },
    ],
    layer: unit('operate/definitions/change-sets'),
  },
  {
    name: 'slot-of-another',
    why: 'a process that stood still writes its list into a slot that another change of many has got meanwhile',
    patches: [
      {
        file: 'lib/operate/definitions/change-sets/change-sets.ts',
        find: 'if (!(await this.#hasPage(ref))) throw dropped();',
        replace: 'if (!(await this.#hasPage(ref)) && found === undefined) throw dropped();',
      },
    ],
    layer: unit('operate/definitions/change-sets'),
  },
  {
    name: 'dropped-list-counts',
    why: 'a process that stood still makes its changes although the store has dropped their list: they can not be undone as a whole',
    patches: [
      {
        file: 'lib/operate/definitions/change-sets/change-sets.ts',
        find: 'if (!havePages(sets, refs)) return { result: false };',
        replace: 'if (!havePages(sets, refs)) return { result: true };',
      },
    ],
    layer: unit('operate/definitions/change-sets'),
  },
  {
    name: 'changes-from-another-state',
    why: 'a change of many is made although the definition was edited after it was listed: its undo overwrites the edit',
    patches: [
      {
        file: 'lib/operate/definitions/bulk-changes.ts',
        find: 'isChanged = next !== undefined && !isAsListed(listed, record);',
        replace: 'isChanged = false && !isAsListed(listed, record);',
      },
    ],
    layer: unit('operate/definitions/change-sets'),
  },
  {
    name: 'slot-taken-twice',
    why: 'a change of many writes its list over that of another one, which can not be undone any more',
    patches: [
      {
        file: 'lib/operate/definitions/change-sets/change-set.ts',
        find: 'while (taken.has(slot)) slot++;',
        replace: 'while (taken.has(slot) && slot < 1) slot++;',
      },
    ],
    layer: unit('operate/definitions/change-sets'),
  },
  {
    name: 'failed-claim-runs',
    why: 'a node that could not take the request for a run makes the run anyway, and later once more',
    patches: [
      {
        file: 'lib/core/permits/by-hand/run-request-handler.ts',
        find: 'this.#report(semaphore, error);\n          return false;',
        replace: 'this.#report(semaphore, error);\n          return true;',
      },
    ],
    layer: unit('core/permits/by-hand/lost-answers'),
  },
  {
    name: 'unsettled-tick-runs',
    why: 'a node makes up for a missed run although it could not settle the planned time: another node does so, too',
    patches: [
      {
        file: 'lib/core/permits/missed/missed-runs.ts',
        find: '(this.#report(error), false)',
        replace: '(this.#report(error), true)',
      },
    ],
    layer: unit('core/permits/missed/lost-answers'),
  },
  {
    name: 'addition-counted-twice',
    why: 'an addition to the past of a job whose answer was lost is made again without a look: its runs count twice',
    patches: [
      {
        file: 'lib/operate/activity/jobs/job-shard.ts',
        find: 'return (writers.get(writer)?.seq ?? 0) >= seq;',
        replace: 'return (writers.get(writer)?.seq ?? 0) > seq;',
      },
    ],
    layer: unit('operate/activity/jobs/job-histories'),
  },
];
