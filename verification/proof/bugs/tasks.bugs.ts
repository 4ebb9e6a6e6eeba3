import type { TaskFaultKind } from '../../../test/simulation/tasks/tasks-scene.js';
import type { Bug, Layer } from './bug.js';

/** For a bug that `npm test` leaves to `npm run test:bugs`: the hunt is long. */
export const LONG = 600;

/** The simulation of tasks, in which the bug must be found within so many schedules. */
export function simulation(says: RegExp, faults: readonly TaskFaultKind[], within = 300): Layer {
  return { kind: 'tasks', faults, within, says };
}

/** Mistakes in the protocol of distributed tasks. */
export const TASKS_BUGS: readonly Bug[] = [
  {
    name: 'root-before-bit',
    why: 'a member looks whether its group is complete before it notes its own end: the last two can miss each other',
    patches: [
      {
        file: 'lib/tasks/records/groups/member-ends.ts',
        find: `    await this.#marks.share(pageKey(group, incarnation, page), { group, incarnation, number, hasFailed });
`,
        replace: `    const look = this.#looks.share(\`\${incarnation}:\${group}\`, { group, incarnation, page });
    await this.#marks.share(pageKey(group, incarnation, page), { group, incarnation, number, hasFailed });
    if (page >= 0) return look;
`,
      },
      // The sweep looks again when a member's retention has passed.
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: '      await this.store.settling.joinIfEnded(type, member, task);\n',
        replace: '',
      },
    ],
    layer: simulation(/T1 not done/, []),
  },
  {
    name: 'join-runs-again',
    why: 'a late write submits the task of a group that is closed, and its handler does not look at the root',
    patches: [
      {
        file: 'lib/tasks/records/settling.ts',
        find: 'return join !== undefined && !join.isOver && !(await',
        replace: 'return join === undefined && !(await',
      },
    ],
    layer: { kind: 'specs', title: 'tasks', specs: ['test/tasks/groups.spec.ts'] },
  },
  {
    name: 'lost-hint-stays-lost',
    why: 'the sweep offers no new hint: a task whose hint got lost waits for ever',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: "      ['untimed', () => this.#hintLost(now)],\n",
        replace: '',
      },
    ],
    layer: simulation(/T1 not done/, ['hints']),
  },
  {
    name: 'lease-never-ends',
    why: 'the sweep does not take tasks away from nodes that crashed',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: '() => this.#lapsedClaims(',
        replace: 'async () => begun < 0 && this.#lapsedClaims(',
      },
    ],
    layer: simulation(/T1 not done/, ['crash']),
  },
  {
    name: 'leases-by-cluster-time',
    why: 'cluster time alone decides when the lease of a task is over: a clock that jumps ahead gives it to a second node',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: "(await this.#lapsed.isOver(task)) ? this.#expired(task, text) : 'stays',",
        replace: 'this.#expired(task, text),',
      },
    ],
    layer: simulation(/T15/, ['clocks']),
  },
  {
    name: 'group-not-told',
    why: 'a node that crashes between the end of a task and the note in its group leaves the group open for ever',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: "() => this.#each('done',",
        replace: "async () => begun < 0 && this.#each('done',",
      },
    ],
    layer: simulation(/T1 not done|T5 not forgotten/, ['crash', 'cut', 'slow']),
  },
  {
    name: 'late-result-counts',
    why: 'a node whose lease ended overwrites the claim of the next one with its result',
    patches: [
      {
        file: 'lib/tasks/rules/claim.ts',
        find: "other.state === 'claimed' && other.token === this.task.token && other.owner === this.task.owner",
        replace: "other.state === 'claimed' && other.id === this.task.id",
      },
    ],
    layer: simulation(/T2/, ['freeze', 'cut', 'slow'], LONG),
  },
  {
    name: 'next-life-lost',
    why: 'a task that was submitted again while it ran ends without its next life',
    patches: [
      {
        file: 'lib/tasks/rules/unique.ts',
        find: 'if (!task.next) return finish(',
        replace: 'if (task.next?.runAt === undefined) return finish(',
      },
    ],
    layer: simulation(/T12/, ['unique', 'cut']),
  },
  {
    name: 'replace-loses-the-last',
    why: 'a submission that replaces a task while it runs keeps the data of the one before',
    patches: [
      {
        file: 'lib/tasks/rules/unique.ts',
        find: 'next: nextLife(submission, stamp),',
        replace: 'next: task.next ?? nextLife(submission, stamp),',
      },
    ],
    layer: simulation(/T12/, ['unique', 'crash']),
  },
  {
    name: 'token-starts-anew',
    why: 'a task that is submitted again begins with the tokens of the first time',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: 'const token = nextToken(task.token, now);',
        replace: 'const token = now > 0 ? task.attempts + task.crashes + 1 : nextToken(task.token, now);',
      },
    ],
    layer: simulation(/T2/, ['crash', 'freeze']),
  },
  {
    name: 'members-forgotten-early',
    why: 'a member of a group is forgotten before the handler of the group has read its result',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: 'if (member && !(await this.store.groups.isOver(type, member)))',
        replace: 'if (member && type.length === 0)',
      },
    ],
    layer: { kind: 'specs', title: 'tasks', specs: ['test/tasks/groups.spec.ts'] },
  },
  {
    name: 'cancel-forgotten',
    why: 'a task that was cancelled while a node worked on it completes, although `cancel()` has answered that it can not',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: "task.cancel ? (['cancelled', undefined]",
        replace: "task.cancel?.by === '' ? (['cancelled', undefined]",
      },
    ],
    layer: simulation(/T4/, ['by-hand', 'slow']),
  },
  {
    name: 'retry-in-an-open-group',
    why: 'a member is tried again before its group is over: the handler of the group runs although the member has not ended',
    patches: [
      {
        file: 'lib/tasks/by-hand/changes.ts',
        find: 'if (member && !(await groups.isOver(type, member)))',
        replace: 'if (member && type.length === 0)',
      },
    ],
    layer: simulation(/T3 .* was claimed before/, ['by-hand', 'slow', 'crash']),
  },
  {
    name: 'call-without-limit',
    why: 'a call of the store that is never answered stops the sweep for ever',
    patches: [
      {
        file: 'lib/core/store/store.ts',
        find: 'new Deadline(timers, limit?.timeout ?? callTimeout)',
        replace: 'new Deadline(timers, 1000 * (limit?.timeout ?? callTimeout))',
      },
    ],
    layer: simulation(/T1 not done|T5/, ['cut', 'calls']),
  },
  {
    name: 'limit-ignored',
    why: 'attempts begin without a permit of their type: more run at once than its limit allows',
    patches: [
      {
        file: 'lib/tasks/admission/type-limit.ts',
        find: 'if (!this.isLimited) return',
        replace: 'if (this.context) return',
      },
    ],
    layer: simulation(/T6/, []),
  },
  {
    name: 'parent-ends-first',
    why: 'a task ends when its handler has ended, and does not wait for its sub-tasks',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: "  if (task.split !== undefined) return { ...ended, state: 'awaiting' };\n",
        replace: '',
      },
    ],
    layer: simulation(/T7/, []),
  },
  {
    name: 'parent-forgotten-by-sweep',
    why: 'a node that crashes when the handler of a task has ended leaves the task waiting for its sub-tasks for ever',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: "      ['untimed', () => this.#each('awaiting', rangeOf('awaiting', unsettled), settle)],\n",
        replace: '',
      },
    ],
    layer: simulation(/T1 not done/, ['crash', 'freeze', 'slow']),
  },
  {
    name: 'announced-and-not-skipped',
    why: 'a sub-task that was announced, and never submitted, keeps its parent waiting for ever',
    patches: [
      {
        file: 'lib/tasks/records/parents.ts',
        find: "    await this.store.create(submission, 'unfinished', transitions.skip);",
        replace: "    if (submission.id === '') await this.store.create(submission, 'unfinished', transitions.skip);",
      },
    ],
    layer: simulation(/T1 not done/, ['calls'], LONG),
  },
  {
    name: 'late-member-begins',
    why: 'a member that is submitted after its group was stopped does not look at the root: it runs',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: '  if (!stopped) return submit;',
        replace: '  if (!stopped?.by.startsWith("none")) return submit;',
      },
    ],
    layer: simulation(/T8/, ['stops']),
  },
  {
    name: 'stop-forgotten-by-sweep',
    why: 'a node that crashes while it ends the members of a group leaves the rest of them to run, and the stop for ever',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: "() => this.#eachText('stopped',",
        replace: "async () => begun < 0 && this.#eachText('stopped',",
      },
    ],
    layer: simulation(/T5|T8/, ['stops', 'crash', 'slow'], LONG),
  },
  {
    name: 'failure-counted-first',
    why: 'a member counts its end before it stops its group: after a crash between the two the group ends as if it had not failed fast',
    patches: [
      {
        file: 'lib/tasks/rules/effects.ts',
        find: `    member && hasFailed && { do: 'stopGroup' },
`,
        replace: '',
      },
      {
        file: 'lib/tasks/rules/effects.ts',
        find: `    { do: 'finish' },
`,
        replace: `    member && hasFailed && { do: 'stopGroup' },
    { do: 'finish' },
`,
      },
    ],
    layer: simulation(/T8/, ['stops']),
  },
  {
    name: 'progress-of-former-attempt',
    why: 'an attempt that has reported nothing shows the progress of the attempt before',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: 'const former = { progress: undefined, formerEnd: undefined, lastProgram: undefined };',
        replace: 'const former = {};',
      },
    ],
    layer: simulation(/T9/, ['crash', 'freeze']),
  },
];
