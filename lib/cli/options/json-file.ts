import { readFileSync } from 'node:fs';
import { UsageFailure } from './exit-code.js';

const STANDARD_INPUT = 0;

/**
 * Reads a file of JSON.
 *
 * @param option the option that names the file, for the error
 * @param path "-" is standard input
 * @throws UsageFailure if the file can't be read, or is not JSON
 */
export function readJsonFile(option: string, path: string): unknown {
  const text = readText(option, path);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageFailure(`${option} ${path} is not JSON (${(cause as Error).message}): correct it`, { cause });
  }
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path === '-' ? STANDARD_INPUT : path, 'utf8');
  } catch (cause) {
    throw new UsageFailure(`${option} can't be read (${(cause as Error).message}): give the path of a readable file`, {
      cause,
    });
  }
}
