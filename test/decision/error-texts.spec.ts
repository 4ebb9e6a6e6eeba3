import { codeOfError, messageOf, nameOfError, safeStack, stackOf } from '../../lib/decision/index.js';

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
