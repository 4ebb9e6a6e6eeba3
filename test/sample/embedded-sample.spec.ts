import { ConsoleLogger, Logger } from '@nestjs/common';
import { freePort } from '../../lib/testing/hazelcast/free-port.js';
import { Controls } from '../../sample-app/src/run/embedded/controls.js';
import { EmbeddedSample } from '../../sample-app/src/run/embedded/embedded-sample.js';
import { introduction } from '../../sample-app/src/run/embedded/texts.js';
import { eventually } from '../contract/eventually.js';

const TOKEN = 'sample-operator-token';
const QUEUES = 12;
const SECOND = 1000;
/** Shorter than in the sample: the leases of a node that was killed are over soon. */
const VARIABLES = { LEASE: '2s', TASK_DURATION: '20' };

/** What a user of `npm run sample` sees of it: its lines, and what its ports answer. */
class EmbeddedUser {
  readonly #texts: string[] = [];
  #from = 0;
  readonly write = (text: string) => void this.#texts.push(text);

  get output(): string {
    return this.#texts.slice(this.#from).join('');
  }

  /** What the nodes wrote, with the port of each. */
  lines(pattern: RegExp): { readonly port: number; readonly text: string }[] {
    return this.#texts.slice(this.#from).flatMap((line) => {
      const [, port, text = ''] = /^(\d+) \| (.*)/.exec(line) ?? [];
      return port && pattern.test(text) ? [{ port: Number(port), text }] : [];
    });
  }

  /** From now on only lines that are written later count. */
  lookAnew(): void {
    this.#from = this.#texts.length;
  }

  /** All lines count again. */
  lookBack(): void {
    this.#from = 0;
  }
}

describe('the sample on the embedded store', () => {
  const user = new EmbeddedUser();
  let sample: EmbeddedSample;
  let controls: Controls;
  beforeAll(async () => {
    const ports = new Set<number>();
    while (ports.size < 4) ports.add(await freePort('127.0.0.1', ports));
    const [archive, ...apps] = [...ports] as [number, ...number[]];
    sample = await EmbeddedSample.start({ apps, archive }, { write: user.write, variables: VARIABLES });
    controls = new Controls(sample, user.write);
  });
  afterAll(async () => {
    await sample?.[Symbol.asyncDispose]();
    Logger.overrideLogger(new ConsoleLogger());
  });

  it('says nothing but what its nodes do', () => {
    expect(user.output).not.toMatch(/Nest|Mapped/);
  });

  it('tells how to sign in, what to press and how to use a real store, in 24 lines of 80 columns', () => {
    const lines = introduction(sample).trim().split('\n');
    for (const { port } of sample.nodes) expect(lines).toContainEqual(expect.stringContaining(`:${port}/gatekeeper/`));
    expect(lines).toContainEqual(expect.stringContaining(TOKEN));
    expect(lines).toContainEqual(expect.stringContaining('npm run sample -- --store hazelcast|postgres|redis'));
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it('has one leader, which alone polls, and one node that exports', async () => {
    await line(/\[poller\]/);
    await line(/exported/);
    expect(sample.nodes.filter(({ isLeader }) => isLeader).map(({ port }) => port)).toEqual(portsOf(/\[poller\]/));
    expect(portsOf(/exported/)).toHaveLength(1);
  });

  it('divides the queues evenly over its nodes', async () => {
    await dividedOver(3);
    expect(sample.nodes.flatMap(({ queues }) => queues).toSorted()).toHaveLength(QUEUES);
  });

  it('shows all nodes, each by a name of its own, at every console', async () => {
    const names = sample.nodes.map(({ port }) => `app-${port}`).toSorted();
    for (const { port } of sample.nodes) {
      const seen = await eventually('the console sees three nodes', async () => {
        const nodes = await acquirersAt(port);
        return nodes.length === 3 && nodes;
      });
      expect(seen).toEqual(names);
    }
  });

  it('gives nothing back and says nothing when a key takes a node down', async () => {
    const place = exporter();
    const { port, name } = sample.nodes[place]!;
    await controls.press('t');
    user.lookAnew();
    await controls.press(String(place + 1));
    expect(user.output).toContain(`${name} is down`);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');

    await line(new RegExp(`WARN .*"${name}" .* crashed or is cut off: it did not renew`));
    await line(/exported/);
    await line(/\[poller\]/);
    await dividedOver(2);
    await eventually('all tasks are done', async () => (await ledger('record-sets')).length === 100, 30 * SECOND);
    expect(await eventually('both joins ran', async () => nonEmpty(await ledger('closed-months')))).toHaveLength(1);
    expect(user.lines(/./).filter((line) => line.port === port)).toEqual([]);
    await controls.press('w');
    expect(user.output).toContain(`${name}  down`);
  });

  it('lets the node come back as another instance, which gets its share', async () => {
    const place = sample.nodes.findIndex(({ isUp }) => !isUp);
    await controls.press(String(place + 1));
    await dividedOver(3);
    expect(sample.nodes[place]!.queues).toHaveLength(QUEUES / 3);
    expect((await fetch(`http://127.0.0.1:${sample.nodes[place]!.port}/`)).status).toBe(200);
  });

  it('says who has what', async () => {
    user.lookAnew();
    await controls.press('w');
    for (const { name, queues } of sample.nodes)
      expect(user.output).toMatch(new RegExp(`${name}  .*holds .*\\n +owns ${queues.join(', ')}\\n`));
    expect(user.output.match(/leads/g)).toHaveLength(1);
  });

  it('knows no other keys', async () => {
    user.lookAnew();
    await controls.press('x');
    expect(user.output).toContain('nothing at the key "x"');
  });

  it('has a line for each message only when it is asked for', async () => {
    await controls.press('v');
    await line(/delivered message/);
    await controls.press('v');
    user.lookAnew();
    await line(/\[poller\]/);
    expect(user.lines(/delivered message/)).toEqual([]);
  });

  it('sends the digest of its schedule when the tasks of its group have ended', async () => {
    user.lookBack();
    const { text } = await line(/sent the digest/);
    const shares = [...text.matchAll(/(\d) by app-\d+/g)].map(([, count]) => Number(count));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(6);
  });

  /** Waits for such a line. */
  async function line(pattern: RegExp) {
    const [first] = await eventually(`a line ${pattern}`, () => nonEmpty(user.lines(pattern)), 40 * SECOND);
    return first!;
  }

  const portsOf = (pattern: RegExp) => [...new Set(user.lines(pattern).map(({ port }) => port))];

  /** The place of the node that exports. */
  function exporter(): number {
    const { port } = user.lines(/exported/).at(-1)!;
    return sample.nodes.findIndex((node) => node.port === port);
  }

  function dividedOver(nodes: number): Promise<unknown> {
    const isDivided = () => sample.living.every(({ queues }) => queues.length === QUEUES / nodes);
    return eventually(`${nodes} nodes share the queues`, isDivided, 40 * SECOND);
  }

  async function acquirersAt(port: number): Promise<string[]> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`http://127.0.0.1:${port}/gatekeeper/api/nodes`, { headers });
    const { nodes } = (await answer.json()) as { nodes: { acquirer: string }[] };
    return nodes.map(({ acquirer }) => acquirer).toSorted();
  }

  async function ledger(book: string): Promise<unknown[]> {
    return (await fetch(`${sample.archiveUrl}/ledger/${book}`)).json() as Promise<unknown[]>;
  }
});

function nonEmpty<T>(list: readonly T[]): readonly T[] | false {
  return list.length > 0 && list;
}
