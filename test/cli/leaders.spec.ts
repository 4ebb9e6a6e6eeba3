import type { Gatekeeper, GatekeeperOptions } from 'nestjs-gatekeeper';
import { eventually } from '../contract/eventually.js';
import { useMemoryCluster } from './memory-cluster.js';

describe('leadership on the command line', () => {
  const cluster = useMemoryCluster();

  /** The first node leads; no node has a lease that ends in a test. */
  async function led(count: number, options: Partial<GatekeeperOptions> = {}) {
    const made = cluster();
    const nodes: Gatekeeper[] = [];
    for (let each = 1; each <= count; each++) {
      const node = await made.node({ acquirer: `app${each}`, ...options });
      nodes.push(node);
      await node.cluster.initialize();
      if (each === 1) await node.cluster.scope().whenLeader();
    }
    await eventually('all nodes are members of the scope', async () => {
      const { members } = JSON.parse((await made.gatekeeper(['leaders', '--json'])).out);
      return members.filter(({ scopes }: { scopes: string[] }) => scopes.includes('default')).length === count;
    });
    return { ...made, nodes };
  }

  it('lists the scopes with their leaders, and the nodes with their metadata', async () => {
    const { gatekeeper, nodes } = await led(2, { metadata: { url: 'http://10.0.0.7' } });
    const { exitCode, out } = await gatekeeper(['leaders']);
    const { token } = nodes[0]!.cluster.scope().term!;
    const short = nodes[0]!.node.instance.slice(0, 8);
    expect(out).toMatch(/^SCOPE +LEADER +INSTANCE +TERM +SINCE +ENDS +CANDIDATES +REMARK$/m);
    expect(out).toMatch(new RegExp(`^default +production/app1 +${short} +${token} +20.*Z +[0-9.]+ s +2$`, 'm'));
    expect(out).toMatch(/^production +app2 +[0-9a-f]{8} .* living +default +\{"url":"http:\/\/10.0.0.7"\}$/m);
    expect(exitCode).toBe(0);
  });

  it('says that there is no leadership, and no node of it', async () => {
    const { gatekeeper, node } = cluster();
    await node();
    expect((await gatekeeper(['leaders'])).out).toBe('no scopes of leadership\n\nno participants\n');
    const { exitCode, err } = await gatekeeper(['leader', 'step-down', 'default']);
    expect([exitCode, err]).toEqual([3, 'gatekeeper: there is no scope "default": there is none yet\n']);
  });

  it('asks the leader to step down, and another node leads', async () => {
    const { gatekeeper, nodes } = await led(2);
    const dry = await gatekeeper(['leader', 'step-down', 'default', '--dry-run']);
    expect(dry.out).toBe(
      'would ask production/app1 to step down from default (1 other node could lead); nothing was changed\n',
    );
    const { exitCode, out } = await gatekeeper(['leader', 'step-down', 'default', '--reason', 'it is slow']);
    expect([exitCode, out]).toEqual([0, 'default: production/app1 was asked to step down\n']);
    await nodes[1]!.cluster.scope().whenLeader();
    expect(nodes[0]!.cluster.scope().isLeader).toBe(false);
    const audit = await gatekeeper(['audit', 'leader:default']);
    expect(audit.out).toMatch(/ step-down +leader:default +ann +- +slot 0 of app1 +it is slow$/m);
  });

  it.each([
    ['its acquirer', ({ node }: Gatekeeper) => node.acquirer],
    ['group and acquirer', ({ node }: Gatekeeper) => `${node.group}/${node.acquirer}`],
    ['its instance', ({ node }: Gatekeeper) => node.instance],
    ['the begin of its instance', ({ node }: Gatekeeper) => node.instance.slice(0, 8)],
  ])('transfers the leadership to a node that is named by %s', async (_, nameOf) => {
    const { gatekeeper, nodes } = await led(3);
    const { exitCode, out } = await gatekeeper(['leader', 'transfer', 'default', nameOf(nodes[2]!)]);
    expect([exitCode, out]).toEqual([0, 'default: production/app1 was asked to hand over to production/app3\n']);
    await nodes[2]!.cluster.scope().whenLeader();
    expect((await gatekeeper(['audit', 'leader:default'])).out).toMatch(/ transfer .* app1 -> app3/);
  });

  it.each([
    [['transfer', 'default'], 2, 'name the node'],
    [['step-down', 'default', 'app1'], 2, 'use "leader transfer"'],
    [['resign', 'default'], 2, 'Allowed choices are step-down, transfer'],
    [['transfer', 'default', 'app9'], 3, 'no living participant is named "app9"'],
    [['transfer', 'other', 'app1'], 3, 'there is no scope "other": known are default'],
    [['transfer', 'default', 'app1'], 4, 'production/app1 leads scope "default" already'],
  ])('refuses %j', async (args, exitCode, why) => {
    const { gatekeeper } = await led(1);
    const outcome = await gatekeeper(['leader', ...args]);
    expect(outcome).toMatchObject({ exitCode, out: '' });
    expect(outcome.err).toContain(why);
  });

  it('does not guess which of two nodes of one name is meant', async () => {
    const { gatekeeper } = await led(2, { acquirer: 'twin' });
    const { exitCode, err } = await gatekeeper(['leader', 'transfer', 'default', 'twin']);
    expect(exitCode).toBe(4);
    expect(err).toMatch(/^gatekeeper: 2 nodes are named "twin": give an instance: production\/twin [0-9a-f-]+, /);
  });
});
