import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const HIDDEN = new Set(['java', 'mvn']);

/** A machine without Java and Maven, as far as PATH says what there is, on which no jar was fetched yet. */
export interface WithoutJava extends AsyncDisposable {
  readonly env: NodeJS.ProcessEnv;
}

export async function withoutJava(): Promise<WithoutJava> {
  const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-no-java-'));
  const programs = join(folder, 'programs');
  await mkdir(programs);
  for (const place of (process.env['PATH'] ?? '').split(delimiter)) await linkAll(place, programs);
  const { JAVA_HOME: _java, HAZELCAST_MEMBERS: _members, CI: _ci, ...env } = process.env;
  return {
    env: { ...env, PATH: programs, GATEKEEPER_CACHE: join(folder, 'cache') },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

async function linkAll(from: string, to: string): Promise<void> {
  const there = new Set(await readdir(to));
  // A folder that PATH names need not exist.
  const files = await readdir(from).catch(() => []);
  const wanted = files.filter((file) => !HIDDEN.has(file) && !there.has(file));
  await Promise.all(wanted.map((file) => symlink(join(from, file), join(to, file))));
}
