import { readFileSync } from 'node:fs';
import { UsageFailure } from './exit-code.js';

const STANDARD_INPUT = 0;

/**
 * @param option that names the file, for the error
 * @param path "-" is standard input
 * @throws UsageFailure
 */
export function readJsonFile(option: string, path: string): unknown {
  const text = readText(option, path);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageFailure(`${option} ${path} is not JSON (${(cause as Error).message}): mend it`, { cause });
  }
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path === '-' ? STANDARD_INPUT : path, 'utf8');
  } catch (cause) {
    throw new UsageFailure(`${option} can't be read (${(cause as Error).message}): name a file that is there`, {
      cause,
    });
  }
}
