import fc from 'fast-check';
import { z } from 'zod';
import {
  InvalidOptionsError,
  escapeHidden,
  escapeLines,
  faultsOf,
  onlyFields,
  quoted,
  safeJson,
  safeStack,
  show,
  word,
} from '../../../lib/core/decision/index.js';
import { HIDDEN, HOSTILE } from '../../support/hostile-texts.js';

/** Any text, hidden characters more often than by chance. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.oneof(fc.string({ unit: 'binary', maxLength: 3 }), hidden())).map((parts) => parts.join('')),
);

function hidden(): fc.Arbitrary<string> {
  const codes = [...Array(32).keys(), 127, ...Array.from({ length: 32 }, (_, index) => 128 + index)];
  const marks = [0x61c, 0x200e, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xd800, 0xdfff];
  return fc.constantFrom(...codes, ...marks).map((code) => String.fromCharCode(code));
}

describe('a text that others wrote', () => {
  it.each(HOSTILE)('is shown on its line and steers nothing: %s', (_, hostile) => {
    for (const shown of [escapeHidden, show, quoted, word, safeJson, (each: string) => safeStack(new Error(each))])
      expect(shown(hostile).split('\n')[0]).not.toMatch(HIDDEN);
  });

  it('is shown with each hidden character as its escape sequence', () => {
    expect(escapeHidden('a\n\t\u001b\u007f\u009b\u2028\u202e\u2069\ud800z')).toBe(
      String.raw`a\n\t\u001b\u007f\u009b\u2028\u202e\u2069\ud800z`,
    );
  });

  it('stays as it is where it has no hidden character', () => {
    const harmless = 'größe 引き継ぎ 👩‍👩‍👧‍👦 "<b>" C:\\temp';
    expect([escapeHidden(harmless), escapeLines(`${harmless}\nb`)]).toEqual([harmless, `${harmless}\nb`]);
  });

  it('never has a hidden character in it, whatever it is', () => {
    fc.assert(
      fc.property(text, (any) => {
        for (const shown of [escapeHidden(any), show(any), quoted(any), word(any)]) expect(shown).not.toMatch(HIDDEN);
        for (const line of escapeLines(any).split('\n')) expect(line).not.toMatch(HIDDEN);
        expect(escapeHidden(escapeHidden(any))).toBe(escapeHidden(any));
      }),
    );
  });

  it('is a word only where nothing else can be read into it', () => {
    fc.assert(
      fc.property(text, (any) => {
        const shown = word(any);
        expect(shown === any ? shown : JSON.parse(shown)).toBe(any);
        expect(shown === any && /[\s"'[\]()=/,]/.test(shown)).toBe(false);
      }),
    );
    expect(['Jobs.export', 'app-1', 'a b', '', 'a"b'].map(word)).toEqual([
      'Jobs.export',
      'app-1',
      '"a b"',
      '""',
      '"a\\"b"',
    ]);
  });

  it('reads back from JSON as it was written', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(undefined, 2), (value, space) => {
        const json = safeJson(value, space);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
        for (const line of json.split('\n')) expect(line).not.toMatch(HIDDEN);
      }),
    );
  });

  it('can not pass for a place in the code, as the message of an error', () => {
    fc.assert(
      fc.property(text, (message) => {
        const [first, ...places] = safeStack(new TypeError(message)).split('\n');
        expect(first).toBe(`TypeError: ${escapeHidden(message)}`);
        for (const place of places) expect(place).toMatch(/^ +at /);
      }),
    );
    const forged = new Error('x\n    at forged (/etc/passwd:1:1)');
    expect(safeStack(forged).split('\n').slice(1).join('\n')).not.toContain('forged');
  });

  it('is escaped and cut short as the name of a field, too', () => {
    const schema = onlyFields({ name: z.string() });
    fc.assert(
      fc.property(text, (key) => {
        const { error } = schema.safeParse({ name: 'a', [key]: 1, ['x'.repeat(1000)]: 1 });
        const { message } = new InvalidOptionsError('a request', faultsOf(error!));
        expect(message).not.toMatch(HIDDEN);
        expect(message.length).toBeLessThan(400);
      }),
    );
  });
});
