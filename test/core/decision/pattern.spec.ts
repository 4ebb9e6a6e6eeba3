import { type NameMatcher, compilePattern, matchersOf } from '../../../lib/core/decision/index.js';
import { aDefinition } from './worlds.js';
import { threadCpu } from '../../console/longest-block.js';

const matches = (pattern: string, name: string) => (compilePattern(pattern) as NameMatcher)(name);

describe('a pattern', () => {
  it.each([
    ['app[12]', 'app1', true],
    ['app[12]', 'app3', false],
    ['app1', 'app12', false],
    ['pp1', 'app1', false],
    ['a|ab', 'ab', true],
    ['.*', 'any\nthing', true],
    ['a.b', 'a\nb', true],
    ['', '', true],
    ['', 'a', false],
    ['APP1', 'app1', false],
    ['(?i)APP1', 'app1', true],
    ['^app1$', 'app1', true],
    ['é+', 'ééé', true],
  ])('%p on the whole name %p: %p', (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  it('that would take a backtracking matcher for ever takes no time', () => {
    const began = threadCpu();
    expect(matches('(a+)+$', `${'a'.repeat(5000)}!`)).toBe(false);
    expect(threadCpu() - began).toBeLessThan(1000);
  });

  it.each(['(', '[', '*', 'a{2,1}', '(?=a)', '\\1'])('is refused with a reason when RE2 has no %p', (pattern) => {
    expect(compilePattern(pattern)).toContain('is not an RE2 pattern');
  });

  it('is compiled once per definition', () => {
    const definition = aDefinition({ groupPattern: 'a+' });
    expect(matchersOf(definition)).toBe(matchersOf(definition));
  });

  it('that was stored but can not be read matches no name', () => {
    expect(matchersOf(aDefinition({ groupPattern: '(' })).group('a')).toBe(false);
  });
});
