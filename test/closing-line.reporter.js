/**
 * Ends the output with plain lines that any CI can read, after whatever the other reporters have to say: a line for each
 * cause for which tests were skipped, and the counts.
 */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = results;
    // A suite that could not even be loaded ran no test, and failed all the same.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    const lines = [...causes(results), `${numPassedTests} passed, ${failed} failed${skipped}`];
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
  }
}

/** The mark that test/needs/unless.ts puts behind a name. */
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
