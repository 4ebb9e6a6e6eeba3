import {
  codeOfError,
  messageOf,
  messageWithCauses,
  nameOfError,
  safeStack,
  stackOf,
  stackWithCauses,
} from '../../../lib/core/decision/index.js';

const ANSWER = { name: null, message: { code: 'E42' }, code: 7, stack: ['at a'] };

/** As an error that takes over the fields of an answer of a server. */
const replaced = (fields: object) => Object.assign(new Error('text'), fields);

const throwing = new Proxy(new Error('text'), {
  get() {
    throw new Error('no field');
  },
  getPrototypeOf() {
    throw new Error('no prototype');
  },
  ownKeys() {
    throw new Error('no keys');
  },
});

describe('the texts of a thrown value', () => {
  it('are those of an error', () => {
    const error = Object.assign(new RangeError('too far'), { code: 'EFAR' });
    expect([messageOf(error), nameOfError(error), codeOfError(error)]).toEqual(['too far', 'RangeError', 'EFAR']);
    expect(stackOf(error)).toBe(error.stack);
  });

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    ['a text', 'a text'],
    [Symbol('x'), 'Symbol(x)'],
    [Object.create(null), 'an empty object'],
    [replaced({ message: null }), 'null'],
    [replaced({ message: undefined }), 'undefined'],
    [replaced(ANSWER), 'an object with code'],
    [throwing, 'a value that can not be shown'],
  ])('%# always have a message', (value, message) => {
    expect(messageOf(value)).toBe(message);
  });

  it.each([null, undefined, 'a text', Object.create(null), replaced(ANSWER), throwing])(
    '%# have no name, code and stack that are no texts',
    (value) => {
      expect([nameOfError(value), codeOfError(value), stackOf(value)]).toEqual([undefined, undefined, undefined]);
    },
  );

  it('are shown with a name and a message, whatever these are', () => {
    expect(safeStack(replaced(ANSWER))).toBe(`Error: ${messageOf(replaced(ANSWER))}`);
    expect(safeStack(throwing)).toBe(`Error: ${messageOf(throwing)}`);
  });
});

describe('the causes of an error', () => {
  const refused = (port: number) => new Error(`connect ECONNREFUSED 127.0.0.1:${port}`);
  const both = [refused(1), refused(2)];
  const all = new AggregateError(both, 'All promises were rejected');
  const circle = new Error('a');
  circle.cause = new Error('b', { cause: circle });
  const chain = (length: number): Error => new Error(`error ${length}`, length > 1 ? { cause: chain(length - 1) } : {});

  it.each([
    ['fetch failed: connect ECONNREFUSED 127.0.0.1:9', new TypeError('fetch failed', { cause: refused(9) })],
    ['a: b: c', new Error('a', { cause: new Error('b', { cause: new Error('c') }) })],
    ['a: a text', new Error('a', { cause: 'a text' })],
    ['a', new Error('a', { cause: null })],
    ['could not send (b)', new Error('could not send (b)', { cause: new Error('b') })],
    ['a: b', circle],
    ['All promises were rejected: connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.1:2', all],
    // As Node makes it when a host has several addresses.
    ['connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.1:2', new AggregateError(both)],
    [
      'a: All promises were rejected: connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.1:2',
      new Error('a', { cause: all }),
    ],
    ['a value that can not be shown', throwing],
    ['a text', 'a text'],
  ])('are told in its message: %s', (message, error) => {
    expect(messageWithCauses(error)).toBe(message);
  });

  it('are told in its stack', () => {
    const error = new TypeError('fetch failed', { cause: all });
    expect(
      stackWithCauses(error)!
        .split('\n')
        .filter((line) => !line.startsWith('    at ')),
    ).toEqual([
      'TypeError: fetch failed',
      'Caused by: AggregateError: All promises were rejected',
      'Caused by: Error: connect ECONNREFUSED 127.0.0.1:1',
      'Caused by: Error: connect ECONNREFUSED 127.0.0.1:2',
    ]);
    expect(stackWithCauses(throwing)).toBeUndefined();
  });

  it('are bounded in number and length', () => {
    expect(messageWithCauses(chain(100))).toBe(
      [100, 99, 98, 97, 96, 95, 94, 93, 92].map((n) => `error ${n}`).join(': '),
    );
    const many = new AggregateError(
      Array.from({ length: 10_000 }, (_, index) => new Error(`${index} `.repeat(10_000))),
    );
    expect(messageWithCauses(many).length).toBeLessThan(5000);
    expect(stackWithCauses(many)!.length).toBeLessThan(20_000);
  });
});
