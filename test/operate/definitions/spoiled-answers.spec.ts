import { useCluster } from '../../support/nodes.js';

/** Changes every field of an answer in place, as far as it lets that happen, with all that it refers to. */
function spoil(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === 'object') spoil(field, seen);
    else Reflect.set(value, name, typeof field === 'number' ? 99 : 'spoiled');
  }
  if (Array.isArray(value)) value.length = 0;
}

describe('an answer that its caller changes in place', () => {
  const cluster = useCluster();

  /** Another node decides by what the store has, so the two must say the same. */
  it('does not change what the node knows, decides and writes', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const other = await nodes.node();
    const { definitions } = gatekeeper;
    await definitions.edit('job', { permits: 2 }, { by: 'ann', reason: 'more' });
    const permit = (await gatekeeper.tryAcquire('job'))!;
    const knownDefinition = (await definitions.get('job'))!.definition;
    const knownNode = { ...(await gatekeeper.state()).node };
    const answers = [
      () => definitions.get('job'),
      () => definitions.pause('job', { by: 'ann' }),
      () => definitions.resume('job', { by: 'ann' }),
      () => definitions.edit('job', { permits: 2 }, { by: 'ann' }),
      () => gatekeeper.explain('job'),
      () => gatekeeper.state(),
      () => gatekeeper.overview(),
      () => gatekeeper.tryAcquire('job', { holder: 'another' }).then((each) => each!.release()),
    ];
    for (const answer of answers) spoil(await answer());
    expect((await definitions.get('job'))!.definition).toEqual(knownDefinition);
    expect((await gatekeeper.state()).node).toEqual(knownNode);
    expect((await gatekeeper.explain('job')).holders).toMatchObject([{ id: permit.id, token: permit.token }]);
    await permit.refresh();
    const [seen, known] = [await other.gatekeeper.explain('job'), await gatekeeper.explain('job')];
    expect(seen.holders).toEqual(known.holders);
    expect(seen.definition).toEqual(known.definition);
  });

  it('can be changed and given back as an edit', async () => {
    const { gatekeeper } = await cluster().node();
    const { definition } = (await gatekeeper.definitions.get('job'))!;
    const changed = definition as { permits: number };
    changed.permits = 3;
    await gatekeeper.definitions.edit('job', { permits: changed.permits }, { by: 'ann' });
    expect((await gatekeeper.definitions.get('job'))!.definition.permits).toBe(3);
  });
});
