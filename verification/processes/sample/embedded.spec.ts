import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningSample } from './running-sample.js';

describe('the sample without a choice of a store', () => {
  let nothing: string;
  let sample: RunningSample | undefined;
  beforeAll(async () => void (nothing = await mkdtemp(join(tmpdir(), 'gatekeeper-no-programs-'))));
  afterEach(() => sample?.[Symbol.asyncDispose]());
  afterAll(() => rm(nothing, { recursive: true }));

  it('runs three nodes where PATH leads to no program, and ends on Ctrl-C', async () => {
    const { JAVA_HOME: _, ...env } = process.env;
    sample = await RunningSample.start({ env: { ...env, PATH: nothing } });
    expect(sample.output).toContain('share one store, in the memory of this process');
    await sample.nextLine(/\[nightly-export\] exported/, 10_000);
    const page = await fetch(`http://127.0.0.1:${sample.ports[0]}/gatekeeper/`);
    expect(await page.text()).toContain('<html');
    expect(await sample.interrupt()).toBe(0);
  });

  it('says how to go on where the chosen server is missing', async () => {
    const { JAVA_HOME: _, HAZELCAST_MEMBERS: _members, CI: _ci, ...env } = process.env;
    sample = await RunningSample.begin([], {
      args: ['--store', 'hazelcast'],
      env: { ...env, PATH: nothing, GATEKEEPER_CACHE: nothing },
    });
    expect(await sample.exitCode()).toBe(1);
    expect(sample.output).toMatch(
      /^Java is missing: install Java 17 or newer .*, or start the sample without --store$/m,
    );
  });
});
