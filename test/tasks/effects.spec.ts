import { type Effect, effectsOf } from '../../lib/tasks/rules/effects.js';
import { type Task, USUAL_LIMITS } from '../../lib/tasks/rules/task.js';

const TASK: Task = {
  id: 'import[june]#1',
  type: 'import',
  state: 'done',
  at: 5,
  priority: 'normal',
  nonce: 'end',
  born: 'birth',
  token: 7,
  submittedAt: 1,
  attempts: 1,
  crashes: 0,
  limits: USUAL_LIMITS,
  ending: { outcome: 'failed', at: 5, by: 'end' },
};
const JUNE = { group: 'june', incarnation: 1 };
/** All that the end of one task can ask for, but for `releaseParent`: a member is counted by its group. */
const EVERYTHING: Task = {
  ...TASK,
  split: 7,
  join: JUNE,
  member: { ...JUNE, number: 1 },
  dependents: ['report:june'],
  queue: 'q',
};
const SUB = { parent: 'tree:one', incarnation: 7, number: 1 };

const kinds = (task: Task): Effect['do'][] => effectsOf(task).map((effect) => effect.do);

describe('the effects of a task', () => {
  it.each<[string, Partial<Task>, Effect['do'][]]>([
    ['that waits, whose hint went with its write', { state: 'waiting' }, []],
    ['that is delayed', { state: 'delayed' }, []],
    ['that a node works on', { state: 'claimed', owner: 'n1' }, []],
    ['that waits for others', { state: 'blocked', after: [{ id: 'mail:x', life: 'l' }] }, ['lookAtAwaited']],
    ['of a queue with a place there', { state: 'blocked', queue: 'q', after: [] }, ['lookAtAwaited']],
    ['of a queue without a place', { state: 'blocked', queue: 'q' }, ['placeInQueue']],
    ['that waits for its sub-tasks', { state: 'awaiting', split: 7 }, ['countSubTasks']],
    ['that is finished', { ...EVERYTHING, state: 'finished' }, []],
    ['that ended, and of which nobody else knows', {}, ['finish']],
    [
      'that ended well as a member',
      { member: EVERYTHING.member!, ending: { outcome: 'completed', at: 5, by: 'e' } },
      ['markMember', 'finish'],
    ],
    ['that ended as a sub-task', { sub: SUB }, ['releaseParent', 'finish']],
    [
      'that ended in a group of sub-tasks',
      { sub: SUB, member: EVERYTHING.member! },
      ['stopGroup', 'markMember', 'finish'],
    ],
    ["that was the handler of a group's end", { join: JUNE }, ['closeGroup', 'tellDependentsOfGroup', 'finish']],
  ])('%s', (_, changes, expected) => {
    expect(kinds({ ...TASK, ...changes })).toEqual(expected);
  });

  // The reasons stand in the table of effectsOf().
  it.each<[Effect['do'], Effect['do']]>([
    ['closeFamily', 'closeGroup'],
    ['closeFamily', 'tellDependents'],
    ['closeFamily', 'markMember'],
    ['closeGroup', 'tellDependentsOfGroup'],
    ['closeGroup', 'markMember'],
    ['stopGroup', 'markMember'],
    ['tellDependents', 'leaveQueue'],
    ['tellDependentsOfGroup', 'markMember'],
    ['leaveQueue', 'markMember'],
    ['markMember', 'finish'],
  ])('%s comes before %s', (first, then) => {
    const order = kinds(EVERYTHING);
    expect(order).toContain(first);
    expect(order.indexOf(then)).toBeGreaterThan(order.indexOf(first));
  });

  it('name the life that ended, so that a later one is not taken for it', () => {
    expect(effectsOf(EVERYTHING)).toContainEqual({
      do: 'tellDependents',
      ended: { id: TASK.id, life: 'birth', outcome: 'failed' },
      dependents: ['report:june'],
    });
    expect(effectsOf(EVERYTHING)).toContainEqual({
      do: 'leaveQueue',
      queue: 'q',
      own: { id: TASK.id, life: 'birth' },
    });
  });
});
