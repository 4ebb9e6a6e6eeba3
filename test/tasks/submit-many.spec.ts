import { setImmediate as turn } from 'node:timers/promises';
import { SubmitManyError, submitMany } from '../../lib/tasks/submit-many.js';
import type { Submitted } from '../../lib/tasks/submission.js';

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
});
