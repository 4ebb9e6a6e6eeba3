import { Controls, type ControlledNode } from '../../sample-app/src/run/controls.js';
import { endOf, introduction } from '../../sample-app/src/run/texts.js';

const TOKEN = 'sample-operator-token';
const PORTS = [65_533, 65_534, 65_535];
const LONGEST_PID = 4_194_304;

/** A node without its process. */
class FakeNode implements ControlledNode {
  readonly name: string;
  readonly pid = LONGEST_PID;
  readonly batches: string[] = [];
  isUp = true;

  constructor(
    readonly port: number,
    private readonly isLeader = false,
  ) {
    this.name = `app-${port}`;
  }

  async division() {
    return { isLeader: this.isLeader, owned: [{ queue: 'athens' }, { queue: `queue-${this.port}` }] };
  }

  async state(): ReturnType<ControlledNode['state']> {
    const semaphores = [
      { name: 'leader:default', holders: [{ acquirer: this.name }] },
      { name: 'report', holders: [{ acquirer: 'app-65533' }] },
    ];
    return { semaphores } as unknown as Awaited<ReturnType<ControlledNode['state']>>;
  }

  async kill() {
    this.isUp = false;
  }

  async reconcile(name: string) {
    this.batches.push(name);
  }
}

function fakeSample() {
  const nodes = PORTS.map((port, place) => new FakeNode(port, place === 1));
  let isOn = false;
  return {
    nodes,
    store: { name: 'one store, in the memory of this process', lines: [] as string[] },
    archiveUrl: 'http://127.0.0.1:65532',
    toggleDetails: async () => (isOn = !isOn),
    revive: async (place: number) => void (nodes[place] = new FakeNode(PORTS[place]!)),
  };
}

describe('the controls of the sample', () => {
  let sample: ReturnType<typeof fakeSample>;
  let output: string;
  let controls: Controls;
  beforeEach(() => {
    output = '';
    sample = fakeSample();
    controls = new Controls(sample, (text) => void (output += text));
  });

  it('kill a node at its key, and start it again as another instance at the same key', async () => {
    const [, former] = sample.nodes;
    await controls.press('2');
    expect(sample.nodes.map(({ isUp }) => isUp)).toEqual([true, false, true]);
    await controls.press('2');
    expect(sample.nodes[1]).not.toBe(former);
    expect(output).toBe('\napp-65534 runs again, as a new instance, and gets its share of the queues: pid 4194304\n\n');
  });

  it('act one after the other', async () => {
    void controls.press('1');
    await controls.press('1');
    expect(sample.nodes[0]!.isUp).toBe(true);
    expect(output).toContain('runs again');
  });

  it('say who leads, who holds which permits and who owns which queues', async () => {
    sample.nodes[2]!.isUp = false;
    await controls.press('w');
    expect(output).toBe(
      '\n  app-65533  holds report\n             owns athens, queue-65533' +
        '\n  app-65534  leads, holds no permit\n             owns athens, queue-65534' +
        '\n  app-65535  down\n\n',
    );
  });

  it('say which node does not answer, and what the others do', async () => {
    sample.nodes[0]!.division = () => Promise.reject(new Error('no answer'));
    await controls.press('w');
    expect(output).toContain('app-65533  no answer\n  app-65534  leads, holds no permit\n');
  });

  it('start tasks on a node that runs, each time under another name', async () => {
    sample.nodes[0]!.isUp = false;
    await controls.press('t');
    await controls.press('t');
    expect(sample.nodes.map(({ batches }) => batches)).toEqual([[], ['batch-1', 'batch-2'], []]);
    expect(output).toContain('http://127.0.0.1:65532/ledger/record-sets');
    for (const node of sample.nodes) node.isUp = false;
    await controls.press('t');
    expect(output).toContain('No node runs: start one first.');
  });

  it('say what failed, and go on', async () => {
    sample.nodes[0]!.reconcile = () => Promise.reject(new Error('app-65533 answers 503'));
    await controls.press('t');
    expect(output).toContain('Key t: app-65533 answers 503');
    await controls.press('v');
    expect(output).toContain('has a line now');
    await controls.press('v');
    expect(output).toContain('no lines any more');
  });

  it('know no other keys', async () => {
    await controls.press('x');
    expect(output).toContain('nothing at the key "x": h shows the keys');
    await controls.press('h');
    expect(output).toContain(introduction(sample));
  });
});

describe('the introduction of the sample', () => {
  const lines = () => introduction(fakeSample(), true).trim().split('\n');

  it('says how to sign in, how to kill a process, what to press and how to use a real store', () => {
    for (const port of PORTS)
      expect(lines()).toContainEqual(`  app-${port}  http://127.0.0.1:${port}/gatekeeper/  pid 4194304`);
    for (const text of [TOKEN, 'kill -9 PID', 'Or press a key', 'npm run sample -- --store hazelcast|postgres|redis'])
      expect(lines()).toContainEqual(expect.stringContaining(text));
  });

  it('fits into 24 lines of 80 columns', () => {
    expect(lines().length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines().map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});

it('the end of a node has one line, which says how to start it again', () => {
  expect(endOf(new FakeNode(65_533), 'SIGKILL', 0).trim()).toBe(
    'app-65533 (pid 4194304) has ended: SIGKILL. Others take its work within 10 s. 1 starts it again.',
  );
});
