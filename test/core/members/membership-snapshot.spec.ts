import { StoreUnavailableError } from 'nestjs-gatekeeper';
import type { MemberState } from '../../../lib/core/members/member-state.js';
import { readMembership } from '../../../lib/core/members/membership-snapshot.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { type TestNode, outcomeOf, useCluster } from '../../support/nodes.js';
import { LEASE, TOLERANCE, kill, overwrite, pageOf, startMember } from '../../support/members.js';

const newCluster = useCluster();
const look = ({ gatekeeper }: TestNode) => readMembership(partsOf(gatekeeper).context);
const statesOf = (members: readonly MemberState[]) => members.map(({ acquirer, state }) => `${acquirer} ${state}`);

describe('a look at the members, from a process that takes no part,', () => {
  it('shows the nodes with their metadata and scopes', async () => {
    const cluster = newCluster();
    await startMember(cluster, { metadata: { url: 'http://app1' }, version: '1.2.3' });
    const leader = await startMember(cluster, { leadership: { scopes: ['a', 'b'] } });
    await leader.gatekeeper.cluster.initialize();
    const outsider = await cluster.node();
    await cluster.time.advance(LEASE);
    expect(await look(outsider)).toMatchObject({
      members: [
        { acquirer: 'app1', state: 'living', metadata: { url: 'http://app1' }, version: '1.2.3', scopes: [] },
        { acquirer: 'app2', state: 'living', metadata: {}, scopes: ['a', 'b'] },
      ],
      problems: [],
    });
  });

  it('tells a node that left from one that crashed', async () => {
    const cluster = newCluster();
    const [one, two] = [await startMember(cluster), await startMember(cluster)];
    await startMember(cluster);
    const outsider = await cluster.node();
    const closing = one.gatekeeper.close();
    kill(two);
    await cluster.time.advance(LEASE + TOLERANCE + 100);
    await closing;
    expect(statesOf((await look(outsider)).members)).toEqual(['app1 left', 'app2 lapsed', 'app3 living']);
  });

  it('names a page that can not be read, and shows the nodes of the others', async () => {
    const cluster = newCluster();
    const [one, two] = [await startMember(cluster), await startMember(cluster)];
    const outsider = await cluster.node();
    const [broken, other] = [await pageOf(cluster, one), await pageOf(cluster, two)];
    await overwrite(cluster, broken, 'no page');
    const { members, problems } = await look(outsider);
    expect(problems).toEqual([expect.stringContaining('membership page')]);
    expect(statesOf(members)).toEqual(other === broken ? [] : ['app2 living']);
  });

  it('is an error without the store, in bounded time', async () => {
    const cluster = newCluster();
    const node = await startMember(cluster);
    node.store.script = () => new Promise(() => undefined);
    const looking = look(node);
    looking.catch(() => undefined);
    await cluster.time.advance(6000);
    expect(await outcomeOf(looking)).toMatchObject({ error: expect.any(StoreUnavailableError) });
  });
});
