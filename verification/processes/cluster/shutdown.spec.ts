import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { figure } from './figure.js';
import type { Ending, NodeProcess, NodeSaid } from './node-process.js';
import { Nodes } from './nodes.js';
import { LATE_TICK, tickAfter } from './ticks.js';
import { describeOnHazelcast } from '../../needs/members.js';

const ERRAND = { semaphore: 'errand' };

describeOnHazelcast('a node that gets SIGTERM in the midst of a run, under a permit of 30 s', () => {
  let cluster: HazelcastCluster;
  let nodes: Nodes;
  let node: NodeProcess;
  let begun: NodeSaid;
  let sigterm: NodeSaid;
  let ending: Ending;

  beforeAll(async () => {
    cluster = await startHazelcast({ clusterName: 'shutdown' });
    nodes = new Nodes(cluster);
    await Promise.all(['one', 'two'].map((name) => nodes.start({ name, jobs: ['errand'] })));
    const besides = nodes.running.map(({ name }) =>
      nodes.hears('begun', { semaphore: `beside-${name}` }, { since: 0 }),
    );
    await Promise.all(besides);
    begun = await nodes.hears('begun', ERRAND);
    node = nodes.node(begun.node);
    // The other job of that tick has begun, too: the signal falls between ticks.
    await node.hears('begun', { semaphore: `beside-${node.name}` }, { since: begun.at - 500 });
    node.signal('SIGTERM');
    sigterm = await node.hears('sigterm', {}, { since: 0 });
    ending = await node.ended;
    await nodes.hears('begun', ERRAND, { since: sigterm.at });
  });

  afterAll(async () => {
    await nodes?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  it('finishes the run with its permit held', () => {
    const ended = node.all('ended', ERRAND, sigterm.at);
    expect(ended).toMatchObject([{ token: begun.token, isHeld: true }]);
    figure('the run ended after SIGTERM', ended[0]!.at - sigterm.at);
  });

  it('gives the permit back, so that another node runs at its very next tick', () => {
    const released = node.last('released', ERRAND)!;
    const next = nodes.all('begun', ERRAND, sigterm.at)[0]!;
    expect(next.node).not.toBe(node.name);
    expect(next.wall).toBeLessThan(tickAfter(released.wall) + LATE_TICK);
    figure('another node ran after the release', next.at - released.at);
  });

  it('begins no run any more, of whatever job', () => {
    expect(node.all('begun', { semaphore: `beside-${node.name}` })).not.toEqual([]);
    expect(node.all('run-skipped', { reason: 'closing' }, sigterm.at)).not.toEqual([]);
    expect(node.all('begun', {}, sigterm.at)).toEqual([]);
    expect(node.all('run-started', {}, sigterm.at)).toEqual([]);
  });

  it('ends by the signal, as Nest ends it, and leaves no error behind', () => {
    expect(ending).toEqual({ signal: 'SIGTERM' });
    expect(nodes.faults).toEqual([]);
  });
});
