import { InvalidOptionsError, ReservedNameError } from '../../lib/core/decision/index.js';
import { SubmitManyError, type TaskContext, defineTask, grouped, single } from '../../lib/tasks/index.js';
import { refused } from '../support/refused.js';
import { SWEPT, type TaskCluster, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const TOO_LARGE = 'x'.repeat(70_000);
/** In the error for data or a result of `TOO_LARGE`. */
const LARGE = '70002 bytes';
const SHORT = { maxAttempts: 2, backoff: { first: 100 } };

/** A node that handles "mail", and notes the ends of its groups. */
function mailer(cluster: TaskCluster, handler: (task: TaskContext) => unknown) {
  const node = worker(cluster, handler);
  const joined: string[] = [];
  node.tasks.handlers.onGroupFinished('mail', ({ group, completed, total }) => {
    joined.push(`${group} ${completed}/${total}`);
  });
  return { node, tasks: node.tasks, joined };
}

describe('a type that no node handles', () => {
  it('keeps its tasks until a node comes that does, and the warning names it', async () => {
    const cluster = newCluster();
    const { node } = mailer(cluster, () => undefined);
    await node.tasks.submit(single('mial', 'one'), 'data');
    await cluster.time.advance(60 * 60_000);
    expect(node.of('tasks-untaken').map(({ sentence }) => sentence)).toEqual([expect.stringContaining('"mial"')]);
    expect(await node.tasks.find('mial:one')).toMatchObject({ state: 'waiting', attempts: 0, crashes: 0 });
    node.tasks.handlers.handle('mial', ({ data }) => data);
    await cluster.time.advance(SWEPT);
    expect(await node.tasks.find('mial:one')).toMatchObject({ state: 'completed', result: 'data' });
  });
});

describe('a second handler of a type', () => {
  it('is refused, and the first one goes on', async () => {
    const cluster = newCluster();
    const { tasks } = mailer(cluster, () => 'first');
    const again = () => tasks.handlers.handle('mail', () => 'second');
    expect(again).toThrow('type: this node has a handler for "mail" already');
    expect(again).toThrow(InvalidOptionsError);
    await tasks.submit(single('mail', 'one'));
    await cluster.time.advance(1000);
    expect(await tasks.find('mail:one')).toMatchObject({ state: 'completed', result: 'first' });
  });
});

describe('a count that is out of range', () => {
  it.each([0, 1001, 1.5, Number.POSITIVE_INFINITY, '4'])('is refused with the range: %s', async (count) => {
    const cluster = newCluster();
    const { tasks } = mailer(cluster, () => undefined);
    const concurrency = count as number;
    const range = `${typeof count === 'string' ? '"4"' : count} is not a whole number from 1 to 1000`;
    expect(() => tasks.handlers.handle('report', () => 1, { concurrency })).toThrow(`concurrency: ${range}`);
    const limits = { maxAttempts: concurrency, maxCrashes: concurrency };
    await expect(tasks.submit(single('mail', 'one'), undefined, limits)).rejects.toThrow(
      `maxAttempts: ${range}; maxCrashes: ${range}`,
    );
  });
});

describe('a group', () => {
  it('whose members disagree on the total takes those that agree, and ends', async () => {
    const cluster = newCluster();
    const { tasks, joined } = mailer(cluster, () => undefined);
    await tasks.submit(grouped('mail', 'june', 1, 2));
    const wrong = tasks.submitMany([{ name: grouped('mail', 'june', 2, 3) }, { name: grouped('mail', 'june', 3, 3) }]);
    await expect(wrong).rejects.toThrow(SubmitManyError);
    await expect(wrong).rejects.toMatchObject({ cause: refused('total') });
    await cluster.time.advance(SWEPT);
    expect([joined, await tasks.find('mail[june]#2')]).toEqual([[], undefined]);
    await tasks.submit(grouped('mail', 'june', 2, 2));
    await cluster.time.advance(1000);
    expect(joined).toEqual(['june 2/2']);
  });

  it.each([3, 250])('refuses a total below the number of a former member, for which it waits: %i', async (number) => {
    const cluster = newCluster();
    const { tasks, joined } = mailer(cluster, () => undefined);
    await tasks.submit(grouped('mail', 'june', number));
    const wrong = tasks.submit(grouped('mail', 'june', 1, 2));
    await expect(wrong).rejects.toThrow(refused('number'));
    await cluster.time.advance(SWEPT);
    expect([joined, await tasks.find('mail[june]#1')]).toEqual([[], undefined]);
  });

  it('of sub-tasks refuses a total below the number of a former one, for which it waits', async () => {
    const cluster = newCluster();
    const failures: unknown[] = [];
    const { tasks, joined } = mailer(cluster, async ({ data, submit }) => {
      if (data === 'part') return;
      await submit(grouped('mail', 'parts', 3), 'part');
      await submit(grouped('mail', 'parts', 1, 2), 'part').catch((error: unknown) => failures.push(error));
    });
    await tasks.submit(single('mail', 'whole'));
    await cluster.time.advance(SWEPT);
    expect(failures).toEqual([refused('number')]);
    expect(joined).toEqual(['parts 1/3']);
  });

  it('that gets a number twice keeps the first task, and says so', async () => {
    const cluster = newCluster();
    const seen: unknown[] = [];
    const { tasks, joined } = mailer(cluster, ({ data }) => void seen.push(data));
    await tasks.submit(grouped('mail', 'june', 1, 2), 'first', { runAt: 500 });
    const second = await tasks.submit(grouped('mail', 'june', 1, 2), 'second');
    expect(second).toMatchObject({ outcome: 'known', because: expect.any(String) });
    await tasks.submit(grouped('mail', 'june', 2, 2), 'other');
    await cluster.time.advance(SWEPT);
    expect([seen.toSorted(), joined]).toEqual([['first', 'other'], ['june 2/2']]);
  });
});

describe('data that are too large, or not JSON', () => {
  it('stop a list there, and what was submitted before runs', async () => {
    const cluster = newCluster();
    const { tasks, joined } = mailer(cluster, ({ data }) => data);
    const list = (second: unknown) =>
      [1, second, 3].map((data, at) => ({ name: grouped('mail', 'g', at + 1, 3), data }));
    const error = await tasks.submitMany(list(TOO_LARGE)).catch((thrown: SubmitManyError) => thrown);
    expect(error).toBeInstanceOf(SubmitManyError);
    expect((error as SubmitManyError).cause).toBeInstanceOf(InvalidOptionsError);
    expect((error as SubmitManyError).message).toContain(`data: ${LARGE}`);
    await tasks.submitMany(list(2));
    await cluster.time.advance(1000);
    expect(joined).toEqual(['g 3/3']);
  });

  it.each([
    ['too large', TOO_LARGE, LARGE],
    ['not JSON', { at: new Date(0) }, 'is not JSON'],
  ])('of a sub-task fail the attempt of its parent, whose error says it: %s', async (_, data, why) => {
    const cluster = newCluster();
    const { tasks } = mailer(cluster, ({ submit }) => submit(single('mail', 'part'), data as never));
    await tasks.submit(single('mail', 'whole'), undefined, SHORT);
    await cluster.time.advance(SWEPT);
    expect(await tasks.find('mail:whole')).toMatchObject({
      state: 'failed',
      attempts: 2,
      lastError: { name: 'InvalidOptionsError', message: expect.stringContaining(why) },
    });
  });
});

describe('a result that is too large', () => {
  it('counts as a failed member, and the group ends', async () => {
    const cluster = newCluster();
    const { tasks, joined } = mailer(cluster, ({ data }) => data === 2 && TOO_LARGE);
    const invalid: string[] = [];
    tasks.handlers.onInvalid(({ id }, error) => void invalid.push(`${id}: ${error.message}`));
    for (const number of [1, 2]) await tasks.submit(grouped('mail', 'june', number, 2), number);
    await cluster.time.advance(1000);
    expect(joined).toEqual(['june 1/2']);
    expect(invalid).toEqual([expect.stringMatching(new RegExp(`^mail\\[june\\]#2: .*${LARGE}`))]);
    expect(await tasks.find('mail[june]#2')).toMatchObject({ state: 'invalid', attempts: 1 });
  });

  it("of a group's handler makes a dead letter, which runs again by hand", async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => 'did');
    let result: unknown = TOO_LARGE;
    node.tasks.handlers.onGroupFinished('mail', async ({ members }) => {
      for await (const member of members()) expect(member.result).toBe('did');
      return result;
    });
    await node.tasks.submit(grouped('mail', 'june', 1, 1));
    await cluster.time.advance(1000);
    const join = 'mail[june]#join';
    expect(await node.tasks.find(join)).toMatchObject({
      state: 'invalid',
      lastError: { message: expect.stringContaining(LARGE) },
    });
    result = 'small';
    expect(await node.tasks.retry(join)).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(1000);
    expect(await node.tasks.find(join)).toMatchObject({ state: 'completed', result: 'small' });
  });
});

describe('a time at which a task may run', () => {
  const year = (of: number) => new Date(Date.UTC(of, 0));

  it.each([new Date(-1), year(10_000), new Date(8.64e15)])('is refused if no record can keep it: %p', async (runAt) => {
    const cluster = newCluster();
    const { tasks } = mailer(cluster, () => 1);
    const submitting = tasks.submit(single('mail', 'one'), undefined, { runAt });
    await expect(submitting).rejects.toThrow(InvalidOptionsError);
    await expect(submitting).rejects.toThrow(`runAt: ${runAt.toISOString()} is before 1970 or after the year 9999`);
    expect(await tasks.find('mail:one')).toBeUndefined();
  });

  it('may be long ago, or in the year 9999', async () => {
    const cluster = newCluster();
    const { tasks } = mailer(cluster, () => 1);
    await tasks.submit(single('mail', 'old'), undefined, { runAt: new Date(0) });
    await tasks.submit(single('mail', 'far'), undefined, { runAt: year(9999) });
    await cluster.time.advance(1000);
    expect(await tasks.find('mail:old')).toMatchObject({ state: 'completed' });
    expect(await tasks.find('mail:far')).toMatchObject({ state: 'delayed', runAt: Number(year(9999)) });
  });
});

describe('an id that no task can have', () => {
  it('is unknown, although a schedule has its record under it', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    tasks.schedules.add('job', '* * * * *', () => 1);
    tasks.start();
    await cluster.time.advance(5000);
    expect(await tasks.find('@job')).toBeUndefined();
    expect(await tasks.explain('@job')).toMatchObject({ reason: 'unknown' });
    expect(await tasks.cancel('@job')).toMatchObject({ outcome: 'unknown' });
    expect(await tasks.retry('@job')).toMatchObject({ outcome: 'unknown' });
    await expect(tasks.submit(single('mail', 'one'), 1, { after: ['@job'] })).rejects.toThrow(refused('after'));
    await tasks.schedules.close();
  });
});

describe('an option that is undefined', () => {
  it("leaves that of the task's definition in force", async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    const report = defineTask('report', { maxAttempts: 3, to: 'batch-.*' });
    await tasks.submit(single(report, 'june'), 1, {
      maxAttempts: undefined,
      to: undefined,
      priority: 'high',
    } as object);
    expect(await tasks.find('report:june')).toMatchObject({
      priority: 'high',
      maxAttempts: 3,
      to: { acquirer: 'batch-.*' },
    });
  });
});

describe('the expression of a schedule', () => {
  it('is refused if its record could not be read', () => {
    const { schedules } = newCluster().node().tasks;
    const add = (expression: string) => () => schedules.add('job', expression, () => 1);
    const days = (count: number) => `0 0 ${Array(count).fill('10').join()} * *`;
    expect(add(days(332))).toThrow('expression: 1003 characters are more than 1000');
    expect(add(days(331))).not.toThrow();
  });
});

describe('an id that the package makes', () => {
  it.each([single('cron.report', '2999-01-01T03:00:00Z'), single('cron.none', '1999-01-01T03:00:00Z')])(
    'is refused if it is that of a tick: $id',
    async (name) => {
      const { tasks } = mailer(newCluster(), () => undefined);
      await expect(tasks.submit(name)).rejects.toThrow(ReservedNameError);
      await expect(tasks.submitSerial('queue', name)).rejects.toThrow(ReservedNameError);
      const unique = { key: name.id.slice(name.id.indexOf(':') + 1) };
      await expect(tasks.submit(single(name.type, 'one'), undefined, { unique })).rejects.toThrow(ReservedNameError);
      expect(await tasks.find(name)).toBeUndefined();
    },
  );

  it('of a schedule is taken if it is that of no tick: a person runs the schedule now', async () => {
    const { tasks } = mailer(newCluster(), () => undefined);
    for (const name of ['by-hand', '2999-01-01', '2999-13-01T03:00:00Z', '1'])
      expect(await tasks.submit(single('cron.report', name))).toMatchObject({ outcome: 'created' });
  });

  it.each([
    { type: 'import#join', id: 'import[june]#join' },
    { type: 'import', id: 'import[june]#join' },
    { type: 'import', id: 'import:^x/1' },
    { type: 'import', id: 'other:1' },
    { type: 'import', id: 'import[june]#2', member: { group: 'june', number: 1 } },
    { type: 'import', id: 'import[^x/june]#1', member: { group: '^x/june', number: 1 } },
  ])('is refused from a caller without types: $id', async (name) => {
    const { tasks } = mailer(newCluster(), () => undefined);
    await expect(tasks.submit(name)).rejects.toThrow(InvalidOptionsError);
    expect(await tasks.find(name.id)).toBeUndefined();
  });
});

describe('an argument that has no type in JavaScript', () => {
  const ids = [5, null, undefined, Symbol('x'), [], ['mail:1'], true, 1n, { id: 5, type: 'mail' }, { type: 'mail' }];
  const names = [
    ...ids,
    { id: 'a' },
    { id: 'mail:1', type: 'other' },
    { id: 'mail:', type: 'mail' },
    { id: 'mail[g]#1', type: 'mail' },
    { id: 'mail[g]#2', type: 'mail', member: { group: 'g', number: 1 } },
    { id: 'mail[g]#2', type: 'mail', member: { group: 'g', number: 2, total: 1 } },
    { id: 'mail:^1', type: 'mail' },
    'mail:1',
  ];
  const codeOf = async (call: () => unknown): Promise<string | undefined> => {
    try {
      await call();
      return undefined;
    } catch (error) {
      const { code, cause } = error as SubmitManyError;
      return code === 'submit-many' ? (cause as InvalidOptionsError).code : code;
    }
  };
  const newTasks = (): any => newCluster().node().tasks;

  it.each(['submit', 'submitMany', 'submitSerial'])('is refused as a name: %s', async (method) => {
    const tasks = newTasks();
    const calls: Record<string, (name: unknown) => unknown> = {
      submit: (name) => tasks.submit(name, {}),
      submitMany: (name) => tasks.submitMany([{ name }]),
      submitSerial: (name) => tasks.submitSerial('q', name),
    };
    for (const name of names) expect(await codeOf(() => calls[method]!(name))).toBe('invalid-options');
  });

  it.each(['find', 'explain', 'cancel', 'retry'])('is refused as an id or a name: %s', async (method) => {
    const tasks = newTasks();
    for (const id of [...ids, { id: 'a' }]) expect(await codeOf(() => tasks[method](id))).toBe('invalid-options');
  });

  it('is refused as a list of tasks, and in one', async () => {
    const tasks = newTasks();
    for (const list of [5, null, undefined, {}, 'mail:1', '', Symbol('x'), [null], [undefined], [5]]) {
      expect(await codeOf(() => tasks.submitMany(list))).toBe('invalid-options');
    }
  });

  it('is refused as a handler', async () => {
    const { handlers, schedules } = newTasks();
    for (const handler of [5, null, undefined, {}, 'mail', []]) {
      expect(await codeOf(() => handlers.handle('mail', handler))).toBe('invalid-options');
      expect(await codeOf(() => handlers.onGroupFinished('mail', handler))).toBe('invalid-options');
      expect(await codeOf(() => handlers.onInvalid(handler))).toBe('invalid-options');
      expect(await codeOf(() => schedules.add('nightly', '0 3 * * *', handler))).toBe('invalid-options');
    }
  });

  it('is refused as a type', async () => {
    const { handlers } = newTasks();
    for (const type of [...ids.slice(0, 8), {}, '']) {
      expect(await codeOf(() => handlers.pauseType(type))).toBe('invalid-options');
      expect(await codeOf(() => handlers.handle(type, () => 1))).toBe('invalid-options');
    }
  });
});

describe('a transaction', () => {
  const tx = undefined as never;
  const mail = defineTask('mail', { maxAttempts: 2 });
  const name = single(mail, 'one');

  it.each<[string, (node: ReturnType<typeof mailer>) => Promise<unknown>]>([
    ['submit()', ({ tasks }) => tasks.submit(name, undefined, { tx })],
    ['submit() of a type without options', ({ tasks }) => tasks.submit(single('mail', 'one'), undefined, { tx })],
    ['submitSerial()', ({ tasks }) => tasks.submitSerial('queue', name, undefined, { tx })],
    ['submitMany()', ({ tasks }) => causeOf(tasks.submitMany([{ name, options: { tx } }]))],
    ['distribute()', ({ tasks }) => causeOf(tasks.distribute([{ name, options: { tx } }], { over: ['a'] }))],
    ['defineTask()', async () => defineTask('mail', { tx } as object)],
  ])('that is undefined is refused, because the task would not be part of it: %s', async (_where, submit) => {
    const node = mailer(newCluster(), () => undefined);
    await expect(submit(node)).rejects.toEqual(refused('tx'));
    expect(await node.tasks.find('mail:one')).toBeUndefined();
  });

  it('that stands beside the options of a list is refused', async () => {
    const { tasks } = mailer(newCluster(), () => undefined);
    const rows = [{ name, tx: { query: async () => ({ rows: [] }) } }];
    await expect(causeOf(tasks.submitMany(rows))).rejects.toEqual(refused('tx'));
    expect(await tasks.find('mail:one')).toBeUndefined();
  });

  it.each([{ tx: { query: async () => ({ rows: [] }) } }, { maxAttempts: 3 }, null])(
    'and other options beside a list are refused: %j',
    async (options) => {
      const cluster = newCluster();
      const faultsOf = (list: Promise<unknown>) => list.catch((error: InvalidOptionsError) => error.faults);
      const { tasks } = mailer(cluster, ({ submitMany }) =>
        faultsOf((submitMany as any)([{ name: single('mail', 'sub') }], options)),
      );
      const submitMany: any = tasks.submitMany.bind(tasks);
      const faults = [expect.stringMatching(/: options beside the list have no effect: give them in each task/)];
      expect(await faultsOf(submitMany([{ name }], options))).toEqual(faults);
      expect(await tasks.find('mail:one')).toBeUndefined();
      await submitMany([{ name }], undefined);
      await cluster.time.advance(1000);
      expect(await tasks.find('mail:one')).toMatchObject({ state: 'completed', result: faults });
    },
  );

  it('is named with the other faults of the options', async () => {
    const { tasks } = mailer(newCluster(), () => undefined);
    await expect(tasks.submit(name, undefined, { tx, maxAttempts: 0 })).rejects.toMatchObject({
      faults: [expect.stringMatching(/^maxAttempts: /), expect.stringMatching(/^tx: undefined is no transaction/)],
    });
  });
});

/** The cause with which a list stops. */
async function causeOf(list: Promise<unknown>): Promise<unknown> {
  return list.catch((error: unknown) => {
    throw (error as SubmitManyError).cause;
  });
}
