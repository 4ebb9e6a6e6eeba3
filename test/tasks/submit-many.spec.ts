import { setImmediate as turn } from 'node:timers/promises';
import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { SubmitManyError, submitMany } from '../../lib/tasks/records/submit-many.js';
import type { Submitted } from '../../lib/tasks/rules/answers.js';
import { grouped, single, wholeGroup } from '../../lib/tasks/index.js';

const answerFor = (id: number): Submitted => ({ id: String(id), outcome: 'created', because: 'it is new' });

/** Submissions that a test answers, and a source of 1,000 items. */
function scripted() {
  const answers = new Map<number, { answer: () => void; fail: (error: Error) => void }>();
  let isClosed = false;
  function* items() {
    try {
      for (let item = 0; item < 1000; item++) yield item;
    } finally {
      isClosed = true;
    }
  }
  const submit = (item: number) =>
    new Promise<Submitted>((resolve, reject) =>
      answers.set(item, { answer: () => resolve(answerFor(item)), fail: reject }),
    );
  const settled = submitMany(items(), submit, async () => undefined).then(
    () => undefined,
    (error: unknown) => error as SubmitManyError,
  );
  return { answers, settled, isClosed: () => isClosed };
}

describe('a list of submissions', () => {
  it('has 64 under way, and asks for the next item when one is answered', async () => {
    const { answers } = scripted();
    await turn();
    expect(answers.size).toBe(64);
    answers.get(63)!.answer();
    await turn();
    expect(answers.size).toBe(65);
  });

  it('ends its source at an error, and waits for the submissions under way', async () => {
    const { answers, settled, isClosed } = scripted();
    await turn();
    const cause = new Error('the store is full');
    answers.get(5)!.fail(cause);
    await turn();
    expect(isClosed()).toBe(true);
    expect(answers.size).toBe(64);
    for (const [item, { answer }] of answers) if (item % 2 === 0) answer();
    for (const { fail } of answers.values()) fail(new Error('another error'));
    const error = await settled;
    expect(error).toBeInstanceOf(SubmitManyError);
    expect(error).toMatchObject({ submitted: 32, cause });
    expect(error!.outcomes[4]).toEqual(answerFor(4));
    expect(error!.outcomes[5]).toBeUndefined();
  });

  it('submits a task when the earlier ones of the list are submitted that it waits for, and no others', async () => {
    const requests = [
      { name: grouped('import', 'june', 1, 2) },
      { name: single('mail', 'one') },
      { name: grouped('import', 'june', 2, 2) },
      { name: single('report', 'june'), options: { after: [wholeGroup('import', 'june'), 'clean:old'] } },
      { name: single('letter', 'june'), options: { after: [single('report', 'june')] } },
      { name: single('mail', 'two'), options: { after: ['clean:old'] } },
    ];
    const answers = new Map<string, () => void>();
    const submit = ({ name: { id } }: (typeof requests)[number]) =>
      new Promise<Submitted>((resolve) => answers.set(id, () => resolve({ ...answerFor(0), id })));
    const submitting = submitMany(requests, submit, async () => undefined);
    await turn();
    expect([...answers.keys()]).toEqual(['import[june]#1', 'mail:one', 'import[june]#2', 'mail:two']);
    for (const id of ['import[june]#1', 'mail:two', 'import[june]#2']) answers.get(id)!();
    await turn();
    expect([...answers.keys()].slice(4)).toEqual(['report:june']);
    answers.get('report:june')!();
    await turn();
    for (const answer of answers.values()) answer();
    expect((await submitting).map(({ id }) => id)).toEqual(requests.map(({ name }) => name.id));
  });

  it('stops when its source fails, with the answers until then', async () => {
    async function* broken() {
      yield 1;
      yield 2;
      throw new Error('the file ends in the middle');
    }
    const error = await submitMany(
      broken(),
      async (item) => answerFor(item),
      async () => undefined,
    ).catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      submitted: 2,
      message: expect.stringContaining('only 2 tasks of the list were submitted: the file ends in the middle'),
    });
  });

  /** A store that gives up all but the first submissions that wait at the same time. */
  const busyStore = (most: number) => {
    const waiting: ((error?: Error) => void)[] = [];
    const calls = { largest: 0, count: 0 };
    const answerAll = () => {
      for (const [place, end] of waiting.splice(0).entries()) {
        end(place < most ? undefined : new StoreUnavailableError('it waited for earlier writes for 1800 ms'));
      }
    };
    const submit = async (item: number): Promise<Submitted> => {
      calls.count++;
      if (waiting.length === 0) setImmediate(answerAll);
      await new Promise<void>((resolve, reject) => {
        waiting.push((error) => (error ? reject(error) : resolve()));
        calls.largest = Math.max(calls.largest, waiting.length);
      });
      return answerFor(item);
    };
    return { submit, calls };
  };
  const numbers = Array.from({ length: 1000 }, (_, number) => number);

  it('goes slower while the store gives up some of many, and submits all', async () => {
    const { submit, calls } = busyStore(10);
    const answers = await submitMany(numbers, submit, () => undefined);
    expect(answers.map(({ id }) => id)).toEqual(numbers.map(String));
    // Few are sent in vain.
    expect(calls.count).toBeLessThan(1200);
  });

  it('ends with an error if the store answers none', async () => {
    const { submit, calls } = busyStore(0);
    const error = await submitMany(numbers, submit, () => undefined).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'submit-many', submitted: 0, cause: { code: 'unavailable' } });
    expect(calls.count).toBe(64);
  });
});
