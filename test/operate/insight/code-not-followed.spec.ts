import { type CodeConflict, codeConflicts } from '../../../lib/operate/insight/code-watch.js';
import { type NodeCode } from '../../../lib/operate/activity/index.js';
import { encodeCode, codeDefinition, nameHash } from '../../../lib/core/permits/declared/node-code.js';
import { parseDefinition } from '../../../lib/core/decision/index.js';
import { JOB, type TestNode, useCluster } from '../../support/nodes.js';
import { CARD } from './card.js';

const MINUTE = 60_000;
/** ms after which a difference is none of a deploy, and a node has looked since. */
const STANDING = 17 * MINUTE;
const V1 = { definitions: [JOB], heartbeat: 10_000, version: '1.0.0' };
const V2 = { ...V1, definitions: [{ ...JOB, duration: '20s' }], version: '2.0.0' };

const faultsOf = ({ gatekeeper }: TestNode) =>
  gatekeeper.health().faults.flatMap(({ code, sentence }) => (code === 'code-not-followed' ? [sentence] : []));

async function warningsOf({ gatekeeper }: TestNode, name = 'job') {
  const { semaphores } = await gatekeeper.overview();
  return semaphores.find((each) => each.name === name)!.warnings;
}

describe('nodes that have different definitions of a name in their code', () => {
  const cluster = useCluster();

  it('warn on both sides when that lasts longer than a deploy: in the log once, in health and at the semaphore', async () => {
    const nodes = cluster();
    const one = await nodes.node(V1);
    await nodes.time.advance(60 * MINUTE);
    const two = await nodes.node(V2);
    await nodes.time.advance(14 * MINUTE);
    expect([one, two].flatMap(faultsOf)).toEqual([]);
    await nodes.time.advance(STANDING);
    for (const node of [one, two]) {
      const [sentence] = faultsOf(node);
      expect(sentence).toMatch(/"job".*app1 \(version 1\.0\.0\).*app2 \(version 2\.0\.0\).*"edit"/);
      expect(node.of('code-not-followed')).toEqual([{ type: 'code-not-followed', semaphores: ['job'], sentence }]);
      expect(node.log.filter((line) => line === `warn ${sentence}`)).toHaveLength(1);
      expect(await warningsOf(node)).toEqual([{ code: 'code-not-followed', sentence }]);
      expect(node.gatekeeper.health()).toMatchObject({ status: 'degraded', grants: true });
    }
    expect(await one.gatekeeper.definitions.get('job')).toMatchObject({ revision: 1 });
  });

  it('begin to differ when the second definition came, whichever node looks, and warn no more when one side has ended', async () => {
    const nodes = cluster();
    const one = await nodes.node(V1);
    await nodes.time.advance(60 * MINUTE);
    const begun = nodes.time.cluster();
    const two = await nodes.node(V2);
    await nodes.time.advance(STANDING);
    const [fault] = one.gatekeeper.health().faults;
    expect(Math.abs(fault!.since - begun)).toBeLessThan(1000);
    await nodes.closeOne(one);
    await nodes.time.advance(2 * MINUTE);
    expect(faultsOf(two)).toEqual([]);
    expect(await warningsOf(two)).toEqual([]);
    expect(await two.gatekeeper.definitions.get('job')).toMatchObject({
      revision: 2,
      definition: { duration: 20_000 },
    });
  });

  it('do not warn in a rolling deploy of some minutes, also one with an old node that restarts in it', async () => {
    const nodes = cluster();
    let old = [await nodes.node(V1), await nodes.node(V1), await nodes.node(V1)];
    await nodes.time.advance(60 * MINUTE);
    await nodes.closeOne(old[0]!);
    old = [await nodes.node(V1), ...old.slice(1)];
    const all = [...old];
    for (const each of old) {
      all.push(await nodes.node(V2));
      await nodes.time.advance(4 * MINUTE);
      await nodes.closeOne(each);
    }
    await nodes.time.advance(STANDING);
    expect(all.flatMap((node) => node.of('code-not-followed'))).toEqual([]);
    expect(faultsOf(all.at(-1)!)).toEqual([]);
  });

  it("do not warn where an operator's definition counts", async () => {
    const nodes = cluster();
    const [one] = [await nodes.node(V1), await nodes.node(V2)];
    await one.gatekeeper.definitions.edit('job', { duration: '30s' });
    await nodes.time.advance(STANDING);
    expect([faultsOf(one), await warningsOf(one)]).toEqual([[], []]);
    await one.gatekeeper.definitions.reset('job');
    await nodes.time.advance(2 * MINUTE);
    expect(faultsOf(one)).toHaveLength(1);
  });

  it('are shown at the semaphore also by a node whose code does not define it, and not in its health', async () => {
    const nodes = cluster();
    await nodes.node(V1);
    await nodes.node(V2);
    const other = await nodes.node({ ...V1, definitions: [] });
    await nodes.time.advance(STANDING);
    expect([faultsOf(other), other.of('code-not-followed')]).toEqual([[], []]);
    expect(await warningsOf(other)).toMatchObject([{ code: 'code-not-followed' }]);
  });
});

describe('a stored definition that can not follow the code', () => {
  const cluster = useCluster();

  it('is a standing warning on a node that is not in the registry, until a reset', async () => {
    const nodes = cluster();
    const old = await nodes.node(V1);
    await nodes.time.advance(1000);
    await nodes.closeOne(old);
    const silent = await nodes.node({ ...V2, heartbeat: 0 });
    await nodes.time.advance(14 * MINUTE);
    expect(faultsOf(silent)).toEqual([]);
    await nodes.time.advance(STANDING);
    const [sentence] = faultsOf(silent);
    expect(sentence).toMatch(/"job".*heartbeat must not be 0.*"reset"/);
    expect(await warningsOf(silent)).toEqual([{ code: 'code-not-followed', sentence }]);
    await silent.gatekeeper.definitions.reset('job');
    await nodes.time.advance(MINUTE);
    expect([faultsOf(silent), await warningsOf(silent)]).toEqual([[], []]);
  });

  it('is to be expected of a node with more definitions than the registry has room for: it says so at once', async () => {
    const definitions = Array.from({ length: 10_001 }, (_, index) => ({ name: `job-${index}`, duration: '10s' }));
    const node = await cluster().node({ ...V1, definitions, sweepInterval: 1_000_000 });
    expect(faultsOf(node)).toEqual([expect.stringMatching(/10001 definitions.* 10000/)]);
  });

  it("is none with codeChanges: 'keep', which says so", async () => {
    const nodes = cluster();
    const old = await nodes.node(V1);
    await nodes.time.advance(1000);
    await nodes.closeOne(old);
    const kept = await nodes.node({ ...V2, codeChanges: 'keep' });
    await nodes.time.advance(2 * STANDING);
    expect([faultsOf(kept), await warningsOf(kept)]).toEqual([[], []]);
  });
});

describe('the names that living nodes define differently', () => {
  const codeOf = (definitions: Record<string, number>) =>
    encodeCode(
      Object.entries(definitions).map(([name, duration]) => codeDefinition(parseDefinition({ name, duration }, 500))),
    );
  const node = (acquirer: string, startedAt: number, definitions: Record<string, number>): NodeCode => ({
    node: { ...CARD, acquirer, startedAt },
    code: codeOf(definitions),
    fingerprintOf: () => undefined,
    hasUsed: () => false,
  });
  const found = (...nodes: NodeCode[]): CodeConflict[] => {
    const search = codeConflicts(nodes);
    let step = search.next();
    while (!step.done) step = search.next();
    return step.value;
  };
  const sides = ({ sides: each }: CodeConflict) => each.map((some) => some.map(({ acquirer }) => acquirer));

  it.each<[string, NodeCode[]]>([
    ['with one code', [node('a', 1, { x: 5000 }), node('b', 2, { x: 5000 })]],
    ['with different names', [node('a', 1, { x: 5000 }), node('b', 2, { y: 6000 })]],
    ['with more names on one of them', [node('a', 1, { x: 5000 }), node('b', 2, { x: 5000, y: 6000 })]],
    ['without any code', [node('a', 1, {}), node('b', 2, { x: 5000 })]],
    ['alone', [node('a', 1, { x: 5000 })]],
  ])('are none of nodes %s', (_case, nodes) => {
    expect(found(...nodes)).toEqual([]);
  });

  it('are grouped by the nodes that disagree, since the second definition of them lives', () => {
    const conflicts = found(
      node('a', 30, { x: 5000, y: 5000, z: 5000 }),
      node('b', 10, { x: 6000, y: 6000, z: 5000 }),
      node('c', 20, { x: 5000, y: 5000, z: 7000 }),
    );
    expect(conflicts).toHaveLength(2);
    expect(conflicts[0]).toMatchObject({ hashes: new Set(['x', 'y'].map(nameHash)), since: 20 });
    expect(sides(conflicts[0]!)).toEqual([['b'], ['a', 'c']]);
    expect(conflicts[1]).toMatchObject({ hashes: new Set([nameHash('z')]), since: 20 });
    expect(sides(conflicts[1]!)).toEqual([['b', 'a'], ['c']].map((some) => expect.arrayContaining(some)));
  });
});
