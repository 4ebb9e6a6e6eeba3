import { readJson } from '../../lib/tasks/rules/json.js';

describe('a value that is to be kept as JSON', () => {
  it.each([
    ['text', 'a'],
    ['a list with null', [1, null, true]],
    ['plain objects', { a: { b: [] } }],
    ['null', null],
  ])('may be %s', (_, value) => {
    expect(readJson(value, 100)).toEqual({ value, text: JSON.stringify(value) });
  });

  it('may be absent, have fields without a value, and -0', () => {
    expect(readJson(undefined, 100)).toEqual({ value: undefined });
    expect(readJson({ a: undefined, b: [{ c: undefined }] }, 100)).toEqual({ value: { b: [{}] }, text: '{"b":[{}]}' });
    expect(readJson([-0], 100)).toEqual({ value: [0], text: '[0]' });
  });

  it('may not be so deep that the stack overflows', () => {
    for (const depth of [2000, 8000, 500_000]) {
      let value: unknown[] = [];
      for (let level = 0; level < depth; level++) value = [value];
      expect(() => readJson(value, 1024 * 1024)).not.toThrow();
    }
  });

  it('is not copied and compared if it is too large', () => {
    let reads = 0;
    const large = {
      get text() {
        reads++;
        return 'x'.repeat(100);
      },
    };
    expect(readJson(large, 100)).toEqual({ fault: expect.stringContaining('111 bytes as JSON are more than 100') });
    expect(reads).toBe(1);
  });

  it('is a copy', () => {
    const data = { list: [1] };
    const read = readJson(data, 100) as { value: unknown };
    data.list.push(2);
    expect(read.value).toEqual({ list: [1] });
  });

  it.each([
    ['NaN', Number.NaN],
    ['a Date', { at: new Date(0) }],
    ['a Map', new Map([[1, 2]])],
    ['a function', () => 1],
    ['a BigInt', [1n]],
    ['undefined in a list', [1, undefined]],
    [
      'an instance of a class',
      new (class Order {
        id = 1;
      })(),
    ],
  ])('may not be %s', (_, value) => {
    expect(readJson(value, 100)).toEqual({ fault: expect.stringContaining('is not JSON') });
  });

  it('may not be larger than the limit in bytes', () => {
    expect(readJson('ää', 6)).toEqual({ value: 'ää', text: '"ää"' });
    expect(readJson('äää', 6)).toEqual({ fault: expect.stringMatching(/^8 bytes.* 6\b/) });
  });

  class Mail {
    to = 'ada';
  }
  it.each([
    ['a Date two levels down', { user: { id: 1, born: new Date(0) } }, 'user.born: a Date is not JSON'],
    ['an instance in a list', { mails: [{}, new Mail()] }, 'mails[1]: an instance of Mail is not JSON'],
    ['an instance itself', new Mail(), 'an instance of Mail is not JSON'],
    ['a BigInt', { sums: { total: 1n } }, 'sums.total: 1 is not JSON'],
    ['a number that is none', [1, Number.NaN], '[1]: NaN is not JSON'],
    ['a function', { call: () => 1 }, 'call: a function is not JSON'],
  ])('of which a part is no JSON is refused with its path: %s', (_, value, fault) => {
    expect(readJson(value, 1000)).toEqual({ fault: expect.stringContaining(fault) });
  });
});
