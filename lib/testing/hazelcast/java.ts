import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingToolError } from './launcher.error.js';
import { JAVA_MISSING, JAVA_TOO_OLD, MINIMUM_JAVA, NEED_JAVA } from './launcher.messages.js';

const run = promisify(execFile);

/**
 * Finds the Java program in `JAVA_HOME`, else in `PATH`.
 *
 * @param version Hazelcast's version, for the error.
 * @returns its path, or `java`.
 * @throws {MissingToolError} if Java is missing, or older than the members need.
 */
export async function findJava(version: string, env = process.env): Promise<string> {
  const java = env['JAVA_HOME'] ? join(env['JAVA_HOME'], 'bin', 'java') : 'java';
  const found = await versionOf(java, version, env);
  if (majorVersion(found) < MINIMUM_JAVA)
    throw new MissingToolError(NEED_JAVA(`Java ${found} is too old`), JAVA_TOO_OLD(java, found, version));
  return java;
}

async function versionOf(java: string, hazelcast: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stderr } = await run(java, ['-version'], { env });
    return /version "(.+?)"/.exec(stderr)?.[1] ?? stderr.trim();
  } catch (error) {
    throw new MissingToolError(NEED_JAVA('Java is missing'), JAVA_MISSING(java, hazelcast), { cause: error });
  }
}

/**
 * Returns the major version: 17 of "17.0.15", 8 of "1.8.0_402" (the form before Java 9), 0 if the text is no version.
 */
export function majorVersion(version: string): number {
  const [, major = '0'] = /^(?:1\.)?(\d+)/.exec(version) ?? [];
  return Number(major);
}
