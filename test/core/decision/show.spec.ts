import { show } from '../../../lib/core/decision/texts/show.js';

describe('A value in an error text', () => {
  it.each([
    [{}, 'an empty object'],
    [{ duration: '10s' }, 'an object with duration'],
    [{ a: 1, b: 2, c: 3, d: 4 }, 'an object with a, b, c, …'],
    [['10s'], 'a list'],
    [new Date(0), 'a Date'],
    [null, 'null'],
  ])('%j is shown as: %s', (value, text) => expect(show(value)).toBe(text));

  it('says nothing of the values of an object, and calls none of its methods', () => {
    const toString = jest.fn(() => 'secret');
    expect(show({ token: 'secret', toString })).toBe('an object with token, toString');
    expect(toString).not.toHaveBeenCalled();
  });

  it('stays short and without characters that control a terminal', () => {
    const text = show({ ['\u001b[31m'.repeat(100)]: 1 });
    expect(text.length).toBeLessThan(400);
    expect(text).not.toContain('\u001b');
  });
});
