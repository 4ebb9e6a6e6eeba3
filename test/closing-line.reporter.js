/** Ends the output with one plain line that any CI can read, after whatever the other reporters have to say. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests }) {
    // A suite that could not even be loaded ran no test, and failed all the same.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    process.once('exit', () => process.stdout.write(`${numPassedTests} passed, ${failed} failed${skipped}\n`));
  }
}
