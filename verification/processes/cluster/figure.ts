/** Prints what was measured, beside the tests that it was measured in. */
export function figure(what: string, value: number, unit = 'ms'): void {
  process.stdout.write(`    ${what}: ${Math.round(value)} ${unit}\n`);
}
