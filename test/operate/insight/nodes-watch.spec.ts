import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import {
  type NodesReader,
  type NodesReading,
  NodesWatch,
  pauseBetweenLooks,
} from '../../../lib/operate/insight/nodes-watch.js';
import { useCluster } from '../../support/nodes.js';

const MINUTE = 60_000;
const READING: NodesReading = { codes: [], isWhole: true };

class Reader implements NodesReader {
  readonly seen: NodesReading[] = [];
  forgotten = 0;
  error?: Error;

  constructor(readonly action: string) {}

  async look(reading: NodesReading): Promise<void> {
    if (this.error) throw this.error;
    this.seen.push(reading);
  }

  forget(): void {
    this.forgotten++;
  }
}

describe('the watch of the nodes', () => {
  const cluster = useCluster();

  async function watching() {
    const nodes = cluster();
    const node = await nodes.node();
    const registry = { readings: 0, error: undefined as Error | undefined };
    const codes = async () => {
      registry.readings++;
      if (registry.error) throw registry.error;
      return READING;
    };
    const [one, two] = [new Reader('look one'), new Reader('look two')];
    const watch = new NodesWatch({ codes }, [one, two], partsOf(node.gatekeeper).context);
    watch.start();
    return { nodes, registry, one, two, watch, problems: () => node.of('problem').map(({ action }) => action) };
  }

  it('reads the registry once for all readers, and no more after its end', async () => {
    const { nodes, registry, one, two, watch } = await watching();
    await nodes.time.advance(10 * MINUTE);
    expect(registry.readings).toBeGreaterThan(10);
    expect([one, two].map(({ seen }) => seen.length)).toEqual([registry.readings, registry.readings]);
    watch.stop();
    const before = registry.readings;
    await nodes.time.advance(10 * MINUTE);
    expect(registry.readings).toBe(before);
  });

  it('goes on with the other readers after one has failed, and reports that one', async () => {
    const { nodes, registry, one, two, watch, problems } = await watching();
    one.error = new Error('can not compare');
    await nodes.time.advance(MINUTE);
    watch.stop();
    expect(registry.readings).toBeGreaterThan(1);
    expect([one.forgotten, two.forgotten, two.seen.length]).toEqual([registry.readings, 0, registry.readings]);
    expect([...new Set(problems())]).toEqual(['look one']);
  });

  it.each([
    ['reports for each reader that the registry could not be read', new Error('unknown'), ['look one', 'look two']],
    ['leaves an outage to those who need the store', new StoreUnavailableError('away'), []],
  ])('%s, which all of them are to forget', async (_case, error, reported) => {
    const { nodes, registry, one, two, watch, problems } = await watching();
    registry.error = error;
    await nodes.time.advance(MINUTE);
    watch.stop();
    expect(registry.readings).toBeGreaterThan(0);
    expect([one.forgotten, two.forgotten]).toEqual([registry.readings, registry.readings]);
    expect([...new Set(problems())]).toEqual(reported);
  });
});

describe('the looks at the nodes', () => {
  it.each([
    ['often after the start', 0, 2, 5000],
    ['once a minute later', MINUTE, 2, MINUTE],
    ['each entry once a second by all nodes of a large cluster', MINUTE, 600, 10 * MINUTE],
    ['also after the start of a large cluster', 0, 600, 10 * MINUTE],
  ])('come %s', (_when, age, nodes, pause) => {
    expect(pauseBetweenLooks(age, nodes)).toBe(pause);
  });
});
