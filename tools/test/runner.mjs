import LightRunner from 'jest-light-runner';
import { compile, compiledPath } from './compile.mjs';

/**
 * Runs tests in bare Node, from what `compile` made of the sources: a worker keeps its modules from file to file, and no
 * file is compiled twice. Jest knows only the sources, by whose names it selects and reports.
 */
export default class CompiledRunner extends LightRunner {
  async runTests(tests, watcher, onStart, onResult, onFailure) {
    await compile();
    const sources = new Map(tests.map((test) => [compiledPath(test.path), test]));
    const sourceOf = ({ path }) => sources.get(path);
    await super.runTests(
      tests.map((test) => ({ ...test, path: compiledPath(test.path) })),
      watcher,
      (test) => onStart(sourceOf(test)),
      (test, result) => onResult(sourceOf(test), { ...result, testFilePath: sourceOf(test).path }),
      (test, error) => onFailure(sourceOf(test), error),
    );
  }
}
