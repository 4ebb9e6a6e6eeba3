import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { sharedNow } from '../../apps/say.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { figure } from './figure.js';
import type { Participant } from 'nestjs-gatekeeper';
import { eventually } from '../../../test/contract/eventually.js';
import type { NodeSaid } from './node-process.js';
import { Nodes } from './nodes.js';

const LEASE = 3000;
const CLOCK_TOLERANCE = 500;
/** ms within which joins and clean leaves are seen, and by which a crash may be seen after lease and tolerance. */
const NOTICE = 1000;
/** ms that timers and pipes may take on a busy machine. */
const SLACK = 250;

type MemberSaid = NodeSaid & { readonly member: Participant };

describeOnHazelcast('the participants on a real member', () => {
  let cluster: HazelcastCluster;
  let nodes: Nodes;
  const start = (name: string) =>
    nodes.start({ name, jobs: [], options: { membership: { lease: LEASE }, clockTolerance: CLOCK_TOLERANCE } });

  beforeAll(async () => {
    cluster = await startHazelcast({ clusterName: 'membership' });
    nodes = new Nodes(cluster);
    await Promise.all([start('one'), start('two')]);
  });

  afterAll(async () => {
    await nodes?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  /** Waits until nodes `one` and `two` say so of another node, and returns when each of them did. */
  const heard = async (event: string, acquirer: string, since: number): Promise<MemberSaid[]> =>
    Promise.all(
      ['one', 'two'].map(async (name) => {
        const of = () =>
          nodes
            .node(name)
            .all(event, {}, since)
            .find((said) => (said as MemberSaid).member.acquirer === acquirer);
        await eventually(`${name} says ${event} of ${acquirer}`, () => of() !== undefined);
        return of() as MemberSaid;
      }),
    );

  const latest = (said: readonly MemberSaid[]) => Math.max(...said.map(({ at }) => at));

  /** Starts a node, and waits until the others know it. */
  const join = async (name: string): Promise<MemberSaid[]> => {
    const since = sharedNow();
    await start(name);
    return heard('member-joined', name, since);
  };

  it('hear of a join within a second', async () => {
    const said = await join('three');
    // All clocks are this machine's, and the node joined right after it took this time from the member's clock.
    const longest = Math.max(...said.map(({ wall, member }) => wall - member.startedAt));
    figure('a join was seen after', longest);
    expect(longest).toBeLessThan(NOTICE + SLACK);
  });

  it('notice kill -9 within lease + clockTolerance + 1 s, and not before the lease can be over', async () => {
    const killedAt = sharedNow();
    await nodes.node('three').kill();
    const at = latest(await heard('member-crashed', 'three', killedAt));
    figure('a crash was seen after kill -9', at - killedAt);
    expect(at - killedAt).toBeLessThan(LEASE + CLOCK_TOLERANCE + NOTICE + SLACK);
    expect(at - killedAt).toBeGreaterThan((LEASE / 3) * 1.8);
  });

  it('notice a freeze, of which the node learns when it wakes; then it joins again', async () => {
    await join('four');
    const frozenAt = sharedNow();
    nodes.node('four').freeze();
    const at = latest(await heard('member-crashed', 'four', frozenAt));
    figure('a freeze was seen after SIGSTOP', at - frozenAt);
    const wokenAt = sharedNow();
    nodes.node('four').thaw();
    await nodes.node('four').hears('membership-lost', {}, { since: wokenAt });
    await heard('member-joined', 'four', wokenAt);
  });

  it('hear of a clean leave within a second', async () => {
    const since = sharedNow();
    nodes.node('four').signal('SIGTERM');
    const at = latest(await heard('member-left', 'four', since));
    figure('a leave was seen after SIGTERM', at - since);
    expect(at - since).toBeLessThan(NOTICE + SLACK);
    await nodes.node('four').ended;
  });

  it('know of no other change, and have no fault', () => {
    const unwanted = nodes.running.flatMap((node) => [...node.all('membership-lost'), ...node.all('member-rejoined')]);
    expect(unwanted).toEqual([]);
    expect(nodes.faults).toEqual([]);
  });
});
