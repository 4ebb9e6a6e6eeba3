import { LazyCode } from '../../../lib/core/async/lazy-code.js';

describe('code that is loaded when it is needed', () => {
  it('is not there before, and is loaded once', async () => {
    const code = { answer: 42 };
    const imports: number[] = [];
    const lazy = new LazyCode(async () => {
      imports.push(imports.length);
      return code;
    });
    expect(lazy.loaded).toBeUndefined();
    expect(await lazy.load()).toBe(code);
    expect(await lazy.load()).toBe(code);
    expect(lazy.loaded).toBe(code);
    expect(imports).toHaveLength(1);
  });

  it('is imported again after a failure', async () => {
    let isThere = false;
    const lazy = new LazyCode(async () => {
      if (!isThere) throw new Error('no such file');
      return 'code';
    });
    await expect(lazy.load()).rejects.toThrow('no such file');
    isThere = true;
    expect(await lazy.load()).toBe('code');
  });
});
