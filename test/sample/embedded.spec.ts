import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../contract/eventually.js';
import { type WithoutJava, withoutJava } from '../needs/without-java.js';
import { RunningSample, type Started, isAlive } from './running-sample.js';

const EXPORTED = /\[nightly-export\] exported/;
const SECOND = 1000;

describe('the sample on an embedded store', () => {
  let sample: RunningSample | undefined;
  let machine: WithoutJava | undefined;
  afterEach(async () => {
    await sample?.[Symbol.asyncDispose]();
    await machine?.[Symbol.asyncDispose]();
    sample = machine = undefined;
  });

  async function start(started: Started): Promise<RunningSample> {
    sample = await RunningSample.start(started);
    return sample;
  }

  it('runs by itself without Java and Maven, says why, and what Hazelcast would add', async () => {
    machine = await withoutJava();
    const { output } = await start({ env: machine.env });
    expect(output).toMatch(/^Java is missing: install Java 17 or newer .*embedded store.*memory\(\).*remote\(\)/m);
    expect(output).toMatch(/^Hazelcast would add: .*quorum/m);
    expect(output).toContain('Three nodes of one application share their permits through an embedded store:');
  }, 90_000);

  it('runs by --embedded: one node exports, another one after kill -9, and Ctrl-C leaves nothing behind', async () => {
    const running = await start({ args: ['--embedded'] });
    const first = await running.nextLine(EXPORTED, 20 * SECOND);
    const again = () => running.lines(EXPORTED, first.at).length > 2;
    await eventually('two more exports', again, 20 * SECOND);
    expect(new Set(running.lines(EXPORTED, first.at).map(({ port }) => port))).toEqual(new Set([first.port]));
    process.kill(running.pid(first.port), 'SIGKILL');
    const others = running.others(first.port);
    const { port } = await running.nextLine(EXPORTED, 20 * SECOND, others);
    const { semaphores } = await running.state(port);
    const names = semaphores.map(({ name }) => name).toSorted();
    expect(names).toEqual(['leader:allocation', 'leader:default', 'mailing', 'nightly-export', 'report']);
    const { pids } = running;
    expect(await running.interrupt()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  }, 120_000);
});
