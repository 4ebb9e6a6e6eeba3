import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * Ends the output with plain lines that any CI can read, after whatever the other reporters have to say: a line for each
 * test that failed, with its error, because a CI may keep the end of the output only; for each cause for which tests were skipped; and the
 * counts.
 */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = results;
    // A suite that could not even be loaded ran no test, and failed all the same.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    const lines = [...failures(results), ...causes(results), `${numPassedTests} passed, ${failed} failed${skipped}`];
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
  }
}

/** Lines for failed tests. After a broken build nearly all fail. */
const MOST_FAILURES = 50;

function failures({ testResults }) {
  const lines = testResults.flatMap(({ testFilePath, testExecError, testResults: tests }) => {
    const file = relative('.', testFilePath);
    if (testExecError) return [`failed: ${file} could not be run`];
    return tests
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `failed: ${file}, ${fullName}: ${inOneLine(failureMessages[0])}`);
  });
  const more = lines.length - MOST_FAILURES;
  return more > 0 ? [...lines.slice(0, MOST_FAILURES), `failed: ${more} more`] : lines;
}

/** Characters of an error in a line: enough for expected and received values, or the seed of a schedule. */
const MOST_OF_ERROR = 500;

function inOneLine(message = 'no message') {
  const lines = stripVTControlCharacters(message).split('\n');
  const told = lines.map((line) => line.trim()).filter((line) => line !== '');
  return told.join(' | ').slice(0, MOST_OF_ERROR);
}

/** The mark that test/support/unless.ts puts behind a name. */
const MARK = /\[skipped: (.+?)\]( |$)/;

function causes({ testResults }) {
  const counts = new Map();
  for (const { testResults: tests, testFilePath } of testResults) {
    for (const { fullName, status } of tests) {
      const [, cause] = (status === 'pending' && MARK.exec(fullName)) || [];
      if (cause === undefined) continue;
      const { count, files } = counts.get(cause) ?? { count: 0, files: new Set() };
      counts.set(cause, { count: count + 1, files: files.add(testFilePath) });
    }
  }
  return [...counts].map(([cause, { count, files }]) => `skipped ${count} tests in ${files.size} files: ${cause}`);
}
