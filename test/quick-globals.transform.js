import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import swc from '@swc/jest';

/**
 * Globals of the language that no test replaces. Not here: what tests may replace, such as Date, fetch and the timers.
 * A change of one of their methods is seen as ever, since the object is the same.
 */
const GLOBALS = (
  'Array BigInt Boolean Error JSON Map Math Number Object Promise Proxy RangeError Reflect RegExp Set String Symbol ' +
  'SyntaxError TypeError Uint8Array WeakMap WeakRef WeakSet parseInt'
).split(' ');

const ownText = readFileSync(fileURLToPath(import.meta.url), 'utf8');

/**
 * Compiles TypeScript, and lets each ES module look up the globals of the language once. In Jest's context every look-up
 * of a global calls into C++: a test that only computes takes nearly twice the time, most of it for `Promise` in zod.
 *
 * Without swc's options (for modules of packages) it only does the latter.
 */
export default {
  createTransformer(options) {
    const { getCacheKey, ...compiler } = options.jsc ? swc.createTransformer(options) : AS_IT_IS;
    return {
      ...compiler,
      process: (...args) => quick(compiler.process(...args)),
      processAsync: async (...args) => quick(await compiler.processAsync(...args)),
      getCacheKey: (...args) => hashOf(ownText, getCacheKey(...args)),
    };
  },
};

const AS_IT_IS = {
  process: (code) => ({ code }),
  processAsync: async (code) => ({ code }),
  getCacheKey: (code, path) => hashOf(code, path),
};

/** In the first line, so that the others keep their numbers. */
function quick({ code, ...others }) {
  const names = GLOBALS.filter((name) => new RegExp(`\\b${name}\\b`).test(code) && !isDeclared(name, code));
  return { ...others, code: names.length > 0 ? `const { ${names.join(', ')} } = globalThis; ${code}` : code };
}

/** Whether the code gives the name another meaning. Two declarations of one name would not load. */
function isDeclared(name, code) {
  const declaration = `(?:class|function|const|let|var)\\s+${name}\\b`;
  const import_ = `import\\s[^'"]*\\b${name}\\b[^'"]*\\sfrom\\b`;
  const destructuring = `(?:const|let|var)\\s*[{[][^=]*\\b${name}\\b[^=]*=`;
  return new RegExp(`${declaration}|${import_}|${destructuring}`).test(code);
}

function hashOf(...texts) {
  return createHash('sha256').update(texts.join('\0')).digest('hex');
}
