import { HIDDEN, HOSTILE } from '../support/hostile-texts.js';
import { type TestCluster, keyOf, useCluster } from '../support/nodes.js';

/** Writes a record whose every text is `hostile`, as another program could. */
async function plant(nodes: TestCluster, hostile: string): Promise<void> {
  const permit = { id: 'p', slot: 0, token: 1, instance: hostile, holder: hostile, acquirer: hostile, group: hostile };
  const times = { grantedAt: 1, expiresAt: nodes.time.cluster() + 15_000, duration: 15_000 };
  const by = { by: hostile, at: 1, reason: hostile };
  const record = {
    v: 1,
    nonce: 'n',
    seq: 1,
    at: nodes.time.cluster(),
    revision: 1,
    lastToken: 1,
    definition: { name: 'planted', groupPattern: hostile, acquirerPattern: hostile, permits: 1, duration: 10_000 },
    permits: [{ ...permit, ...times }],
    change: { id: 'c', kind: 'edit', ...by },
  };
  await nodes.raw.records.compareAndSet(keyOf('planted'), undefined, JSON.stringify(record));
  await nodes.raw.records.compareAndSet(keyOf(hostile), undefined, JSON.stringify(record));
  await nodes.raw.records.compareAndSet(
    keyOf('unreadable'),
    undefined,
    JSON.stringify({ ...record, [hostile]: hostile }),
  );
}

describe('the log', () => {
  const cluster = useCluster();

  it.each(HOSTILE)('has one line for each event, whatever others call themselves: %s', async (_, hostile) => {
    const nodes = cluster();
    await plant(nodes, hostile);
    const { gatekeeper, log } = await nodes.node({ stateDump: '10s', history: true });
    const failing = gatekeeper.run('job', () => Promise.reject(new Error(hostile)), { atLeastFor: 0 });
    await expect(failing).rejects.toThrow(hostile);
    await gatekeeper.overview();
    await nodes.time.advance(60_000);
    expect(log.filter((line) => line.includes('state semaphore='))).not.toEqual([]);
    for (const line of log) expect(line).not.toMatch(HIDDEN);
    expect(log.filter((line) => /^\w+ state semaphore=forged/.test(line))).toEqual([]);
  });

  it('quotes what could be read as another field of the line', async () => {
    const nodes = cluster();
    const name = 'job permits=9 free=9';
    const definitions = [{ name, duration: '10s', groupPattern: 'a|.* acquirer=/x/', acquirerPattern: '.*"]' }];
    const options = { definitions, stateDump: '10s', group: 'a', acquirer: 'b/c(token 7, 9.0s)]' };
    const { gatekeeper, log } = await nodes.node(options);
    await gatekeeper.definitions.edit(name, { groupPattern: 'a|b c' });
    await nodes.time.advance(11_500);
    expect(log.filter((line) => line.startsWith('log state'))).toEqual([
      String.raw`log state semaphore="job permits=9 free=9" permits=1 free=1 held=[] group="a|b c" acquirer=".*\"]" duration=10000ms revision=2`,
    ]);
    await gatekeeper.definitions.edit(name, { acquirerPattern: '.*' });
    await gatekeeper.run(name, () => 1);
    await nodes.time.advance(11_500);
    expect(log.join('\n')).toContain(' held=[0:a/"b/c(token 7, 9.0s)]"/');
  });
});

describe('sentences for people', () => {
  const cluster = useCluster();

  it.each(HOSTILE)('stay on their line: %s', async (_, hostile) => {
    const nodes = cluster();
    await plant(nodes, hostile);
    const { gatekeeper } = await nodes.node({ heartbeat: '10s' });
    const { sentence } = await gatekeeper.explain('planted');
    const { semaphores } = await gatekeeper.overview();
    const warnings = semaphores.flatMap((semaphore) => semaphore.warnings.map((warning) => warning.sentence));
    expect(warnings).not.toEqual([]);
    const problems = semaphores.flatMap(({ problem }) => problem ?? []);
    expect(problems).toHaveLength(1);
    for (const text of [sentence, ...warnings, ...problems]) expect(text).not.toMatch(HIDDEN);
  });
});
