import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../lib/testing/hazelcast/hazelcast-jar.js';
import { findJava, majorVersion } from '../../lib/testing/hazelcast/java.js';
import { majorityConfig, pinnedVersion, pomFile, shippedConfig } from '../../lib/testing/hazelcast/package-files.js';
import { fetchHazelcast, HazelcastLauncherError } from '../../lib/testing/index.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'gatekeeper-'))));
afterEach(() => rm(folder, { recursive: true }));

/** An environment whose PATH leads to the programs of `folder` only. */
const environment = () => ({ PATH: folder, GATEKEEPER_CACHE: join(folder, 'cache') });

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

describe('without what a member needs', () => {
  it('the error says that Java is missing, and what to do instead', async () => {
    const error: unknown = await findJava('5.6.0', environment()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HazelcastLauncherError);
    expect(error).toMatchObject({ code: 'hazelcast-launcher', message: expect.stringMatching(/^Java is missing/) });
    expect(error).toMatchObject({
      message: expect.stringContaining(
        'docker run --rm -p 5701:5701 -e HZ_CLUSTERNAME=dev hazelcast/hazelcast:5.6.0 and HAZELCAST_MEMBERS=127.0.0.1:5701',
      ),
    });
  });

  it('the error says that Java is too old', async () => {
    await program('java', `echo 'openjdk version "11.0.2" 2019-01-15' >&2`);
    await expect(findJava('5.6.0', environment())).rejects.toThrow(/^Java is too old: "java" is 11\.0\.2, .*Java 17/);
  });

  it('the error says that Maven is missing', async () => {
    await expect(fetchHazelcast('5.6.0', environment())).rejects.toThrow(/^Maven is missing.*docker run/);
  });

  it('the error holds what Maven said, and the cache stays empty', async () => {
    await program('mvn', 'echo "[ERROR] no such version"; exit 1');
    await expect(fetchHazelcast('9.9.9', environment())).rejects.toThrow(/9\.9\.9\.jar.*\n\[ERROR\] no such version/);
    expect(await readdir(environment().GATEKEEPER_CACHE)).toEqual([]);
  });
});

describe('the jar', () => {
  const PRETEND_MAVEN = `for a in "$@"; do case "$a" in -DoutputDirectory=*) echo jar > "\${a#*=}/hazelcast-1.0.jar";; esac; done`;

  it('is fetched by two at once and left complete, and not fetched again', async () => {
    await program('mvn', PRETEND_MAVEN);
    const [jar] = await Promise.all([fetchHazelcast('1.0', environment()), fetchHazelcast('1.0', environment())]);
    expect(await readdir(environment().GATEKEEPER_CACHE)).toEqual(['hazelcast-1.0.jar']);
    await program('mvn', 'exit 1');
    expect(await fetchHazelcast('1.0', environment())).toBe(jar);
  });

  it.each([
    [{ GATEKEEPER_CACHE: '/a', XDG_CACHE_HOME: '/b' }, '/a'],
    [{ XDG_CACHE_HOME: '/b' }, '/b/nestjs-gatekeeper/hazelcast'],
    [{}, expect.stringMatching(/\.cache\/nestjs-gatekeeper\/hazelcast$/)],
  ])('is kept as %j says', (env, expected) => expect(cacheFolder(env)).toEqual(expected));
});

describe('what the launcher reads', () => {
  it('lies in the package', () => {
    expect([pomFile(), shippedConfig(), majorityConfig()].filter((file) => !existsSync(file))).toEqual([]);
    expect(pinnedVersion()).toMatch(/^5\.\d+\.\d+$/);
  });

  it.each([
    ['17.0.15', 17],
    ['21', 21],
    ['1.8.0_402', 8],
    ['nonsense', 0],
  ])('Java %s is Java %i', (version, major) => expect(majorVersion(version)).toBe(major));
});
