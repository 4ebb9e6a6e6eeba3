import { type WithoutJava, withoutJava } from '../../needs/without-java.js';
import { RunningSample, type Started } from './running-sample.js';

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
  });
});
