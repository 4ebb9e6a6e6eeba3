import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { HazelcastLauncherError, MissingToolError } from './launcher.error.js';
import { FETCH_FAILED, MAVEN_MISSING, NEED_MAVEN } from './launcher.messages.js';
import { pinnedVersion, pomFile } from './package-files.js';

const run = promisify(execFile);

/**
 * Fetches the jar of a Hazelcast member with Maven, unless it is in the cache. Several processes may do this at the
 * same time.
 *
 * The cache is `$GATEKEEPER_CACHE`, else `nestjs-gatekeeper/hazelcast` in `$XDG_CACHE_HOME` or `~/.cache`.
 *
 * @param version Hazelcast's version. Default: the one that this package pins.
 * @param env the environment with `PATH` and the variables above. Default: the process's environment.
 * @returns the absolute path of the jar.
 * @throws {MissingToolError} if Maven is missing.
 * @throws {HazelcastLauncherError} if Maven can't get that version.
 */
export async function fetchHazelcast(version = pinnedVersion(), env = process.env): Promise<string> {
  const jar = join(cacheFolder(env), `hazelcast-${version}.jar`);
  if (!existsSync(jar)) await download(version, jar, env);
  return jar;
}

/** The folder is outside of the package: a package's folder may be read-only, and each install empties it. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env['GATEKEEPER_CACHE']) return resolve(env['GATEKEEPER_CACHE']);
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'nestjs-gatekeeper', 'hazelcast');
}

/**
 * Fetches into a separate folder, then renames: a jar in the cache is always complete. If two processes fetch at once,
 * the later one replaces the file by an equal one.
 */
async function download(version: string, jar: string, env: NodeJS.ProcessEnv): Promise<void> {
  await mkdir(cacheFolder(env), { recursive: true });
  const folder = await mkdtemp(join(cacheFolder(env), 'fetch-'));
  try {
    await copyByMaven(version, folder, env);
    await rename(join(folder, `hazelcast-${version}.jar`), jar);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyByMaven(version: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, `-Dhazelcast.version=${version}`];
  try {
    await run('mvn', ['-q', '-B', '-f', pomFile(), ...goal], { env });
  } catch (error) {
    const { code, stdout = '' } = error as { code?: string | number; stdout?: string };
    if (code === 'ENOENT') throw new MissingToolError(NEED_MAVEN, MAVEN_MISSING(version), { cause: error });
    throw new HazelcastLauncherError(FETCH_FAILED(version, firstLines(stdout)), { cause: error });
  }
}

const firstLines = (text: string) => text.trim().split('\n').slice(0, 5).join('\n');
