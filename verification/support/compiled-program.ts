import { join } from 'node:path';
import { ROOT, compiledPath } from '../../tools/test/compile.mjs';

/**
 * Path of a program that a test starts as a process, in the form that Node runs.
 *
 * @param source from the project's folder
 */
export function compiledProgram(source: string): string {
  return compiledPath(join(ROOT, source));
}
