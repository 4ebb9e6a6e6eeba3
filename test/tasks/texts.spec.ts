import { CorruptRecordError, InvalidOptionsError, NewerRecordError } from 'nestjs-gatekeeper';
import { grouped, single } from '../../lib/tasks/index.js';
import { PRIORITIES, type Task, USUAL_LIMITS } from '../../lib/tasks/rules/task.js';
import { decodeTask, encodeTask } from '../../lib/tasks/rules/task.codec.js';
import { deadRange, placeOfText, rangeOf, waitingRange } from '../../lib/tasks/rules/task-place.js';
import {
  Bits,
  PAGE_BITS,
  isFull,
  knows,
  openRoot,
  pagesOf,
  placeOf,
  withFull,
  withMember,
} from '../../lib/tasks/rules/group.js';
import { decodePage, decodeGroupRoot, encodePage, encodeGroupRoot } from '../../lib/tasks/rules/group.codec.js';

const NOW = 1_790_000_000_000;

const TASK: Task = {
  id: 'mail:order-7',
  type: 'mail',
  state: 'waiting',
  at: NOW,
  priority: 'normal',
  nonce: 'a.1',
  token: 0,
  submittedAt: NOW,
  attempts: 0,
  crashes: 0,
  limits: USUAL_LIMITS,
};

const FULL: Task = {
  ...TASK,
  state: 'done',
  priority: 'low',
  born: 'a.0',
  token: 7,
  attempts: 2,
  crashes: 1,
  limits: { ...USUAL_LIMITS, maxAttempts: 9 },
  data: { text: 'a|b{"c"}', list: [1, null, true], none: '' },
  member: { group: 'june|{', incarnation: 3, number: 12 },
  error: { name: 'Error', message: 'no', at: NOW },
  ending: { outcome: 'failed', at: NOW, by: 'a.1' },
};

describe('the text of a task', () => {
  it.each([
    ['as few fields as possible', TASK],
    ['all fields', FULL],
    ['a group handler', { ...TASK, join: { group: 'june', incarnation: 3 } }],
  ])('brings back %s', (_, task) => {
    expect(decodeTask(encodeTask(task))).toEqual(task);
  });

  it('leaves out what is usual', () => {
    expect(encodeTask(TASK)).toBe(
      'w|mail|1|0001790000000000|1c68|{"v":1,"id":"mail:order-7","type":"mail","nonce":"a.1","submittedAt":1790000000000}',
    );
  });

  it.each(['delayed', 'claimed', 'done', 'finished'] as const)(
    'is in the range of its state, %s, from its time on',
    (state) => {
      const ending = { outcome: 'completed', at: NOW, by: 'a.2' } as const;
      const text = encodeTask({ ...TASK, state, ending });
      const isIn = ([from, to]: readonly [string, string]) => from <= text && text < to;
      expect(isIn(rangeOf(state, NOW + 1))).toBe(true);
      expect(isIn(rangeOf(state, NOW))).toBe(false);
      for (const other of ['delayed', 'claimed', 'done', 'finished'] as const) {
        expect(other !== state && isIn(rangeOf(other, NOW + 1))).toBe(false);
      }
    },
  );

  it('is in the range of the dead letters when it has ended without success', () => {
    for (const outcome of ['failed', 'crashed', 'invalid', 'cancelled'] as const) {
      const task: Task = { ...TASK, state: 'finished', ending: { outcome, at: NOW, by: 'a.2' } };
      const text = encodeTask(task);
      const isIn = ([from, to]: readonly [string, string]) => from <= text && text < to;
      expect([deadRange(NOW + 1), deadRange(NOW), rangeOf('finished', NOW + 1)].map(isIn)).toEqual([
        true,
        false,
        false,
      ]);
      expect(decodeTask(text)).toEqual(task);
    }
  });

  it('is in the range of its type and priority while it waits', () => {
    for (const priority of PRIORITIES) {
      const text = encodeTask({ ...TASK, priority });
      const places = PRIORITIES.filter((each) => {
        const [from, to] = waitingRange('mail', each, NOW + 1);
        return from <= text && text < to;
      });
      expect(places).toEqual([priority]);
      const [from, to] = waitingRange('mai', priority, NOW + 1);
      expect(from <= text && text < to).toBe(false);
    }
  });

  it.each([
    ['open', {}, ''],
    ['fair', { fairKey: 'tenant|7' }, expect.any(String)],
    ['addressed', { to: { acquirer: 'a|b' } }, expect.any(String)],
  ])('says its place while it waits: %s', (kind, fields, key) => {
    const task: Task = { ...TASK, ...fields, priority: 'high' };
    const text = encodeTask(task);
    expect(placeOfText(text)).toEqual({ kind, type: 'mail', priority: 'high', at: NOW, key });
    expect(decodeTask(text)).toEqual(task);
    expect(placeOfText(encodeTask({ ...task, state: 'claimed' }))).toBeUndefined();
  });

  it.each([
    ['no task', 'x', CorruptRecordError],
    ['another state', encodeTask(TASK).replace('w|', 'z|'), CorruptRecordError],
    ['no time', encodeTask(TASK).replace('0001790000000000', 'yesterday'), CorruptRecordError],
    ['no JSON', encodeTask(TASK).slice(0, -1), CorruptRecordError],
    ['an unknown field', encodeTask(TASK).replace('"v":1', '"v":1,"x":1'), CorruptRecordError],
    ['a newer version', encodeTask(TASK).replace('"v":1', '"v":2'), NewerRecordError],
  ])('is refused if it is %s', (_, text, error) => {
    expect(() => decodeTask(text)).toThrow(error);
  });
});

describe('names', () => {
  it('of single tasks and of members never meet', () => {
    const ids = [single('a', 'b').id, single('a', '[b]#1').id, grouped('a', 'b', 1).id, grouped('a', ':b', 1).id];
    expect(ids).toEqual(['a:b', 'a:[b]#1', 'a[b]#1', 'a[:b]#1']);
    expect(new Set(ids).size).toBe(4);
  });

  it.each([
    ['a type with a colon', () => single('a:b', 'c'), 'type: "a:b" is not'],
    ['no name', () => single('a', ''), 'name: "" is empty: give 1 to 200 characters'],
    ['a long name', () => single('a', 'x'.repeat(201)), 'name: 201 characters are more than 200'],
    ['a line break', () => single('a', 'b\nc'), 'has a control character'],
    ['half a character', () => single('a', '\ud800'), 'has half of a surrogate pair'],
    ['number 0', () => grouped('a', 'b', 0), 'number: 0 is not a whole number from 1'],
    ['a number above the total', () => grouped('a', 'b', 3, 2), 'number: 3 is more than the total of 2'],
    ['a total of 1.5', () => grouped('a', 'b', 1, 1.5), 'total: 1.5 '],
  ])('refuse %s', (_, make, message) => {
    expect(make).toThrow(InvalidOptionsError);
    expect(make).toThrow(message);
  });
});

describe('a group', () => {
  const root = openRoot('import[june]', 'import', undefined, { now: NOW, nonce: 'a.1', number: 1, total: 2000 });

  it('has its members on pages of 1,024', () => {
    expect([1, 1024, 1025].map(placeOf)).toEqual([
      { page: 0, place: 0 },
      { page: 0, place: 1023 },
      { page: 1, place: 0 },
    ]);
    expect([1, 1024, 1025, 1_000_000].map(pagesOf)).toEqual([1, 1, 2, 977]);
  });

  it('is complete when each of its pages is full, the last one with fewer members', () => {
    const last = new Bits().with(Array.from({ length: 2000 - PAGE_BITS }, (_, place) => place));
    expect(isFull({ ended: last }, 1, 2000)).toBe(true);
    expect(isFull({ ended: last }, 1, 2001)).toBe(false);
    expect(isFull({ ended: last }, 0, 2000)).toBe(false);
    const half = withFull(root, [1], 'a.2');
    expect([half.state, withFull(half, [0, 1], 'a.3').state]).toEqual(['open', 'joining']);
  });

  it('has room for the numbers of its members while the total is not known', () => {
    const first = openRoot('import[june]', 'import', undefined, { now: NOW, nonce: 'a.1', number: 7 });
    expect(first.highest).toBe(100);
    expect([1, 100, 101].map((number) => knows(first, { number }))).toEqual([true, true, false]);
    expect(knows(first, { number: 1, total: 7 })).toBe(false);
    expect(withMember(first, { number: 250 }, 'a.2').highest).toBe(300);
    expect(withMember(first, { number: 1_000_000 }, 'a.2').highest).toBe(1_000_000);
    const whole = withMember(first, { number: 1, total: 7 }, 'a.3');
    expect([whole.total, knows(whole, { number: 7 })]).toEqual([7, true]);
  });

  it('never has the incarnation of a former one', () => {
    const next = openRoot('import[june]', 'import', root, { now: NOW - 5000, nonce: 'a.9', number: 1 });
    expect(next.incarnation).toBeGreaterThan(root.incarnation);
  });

  it('comes back from its texts', () => {
    expect(decodeGroupRoot(encodeGroupRoot(root))).toEqual(root);
    const page = { nonce: 'a.4', ended: new Bits().with([0, 7, 8, 1023]), failed: new Bits().with([8]) };
    const read = decodePage(encodePage(page));
    expect([0, 1, 7, 8, 1023].map((place) => read.ended.has(place))).toEqual([true, false, true, true, true]);
    expect([read.ended.size, read.failed.size]).toEqual([4, 1]);
  });
});
