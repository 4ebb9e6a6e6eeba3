import { promised } from '../../../lib/core/async/promised.js';
import { SerialExecutor } from '../../../lib/core/async/serial-executor.js';
import { UseCount } from '../../../lib/core/async/use-count.js';

const thrown = (): Promise<never> => {
  throw new Error('at once');
};

describe('work that throws before it returns a promise', () => {
  it('is rejected', () => expect(promised(thrown)).rejects.toThrow('at once'));

  it('does not block its queue', async () => {
    const queue = new SerialExecutor();
    const [failed, next] = [queue.run(thrown), queue.run(() => Promise.resolve('next'))];
    await expect(failed).rejects.toThrow('at once');
    expect(await next).toBe('next');
  });

  it('ends its use', async () => {
    let idle = 0;
    const uses = new UseCount(() => idle++);
    await expect(uses.during(thrown)).rejects.toThrow('at once');
    expect(idle).toBe(1);
    expect(await uses.during(() => Promise.resolve('done'))).toBe('done');
    expect(idle).toBe(2);
  });
});
