import { describe } from '@jest/globals';
import { canSetClocks } from './wrong-clock.js';

/** Tests that set a clock wrong: where faketime is missing they are skipped, and say so. */
export function describeWithWrongClocks(name: string, tests: () => void): void {
  const isInstalled = canSetClocks();
  if (!isInstalled) console.warn(`Skipped, faketime is missing (apt-get install faketime): ${name}`);
  (isInstalled ? describe : describe.skip)(name, tests);
}
