import { InvalidOptionsError, files, hazelcast, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { REFUSED } from '../../support/hostile-texts.js';
import { type TestNode, useCluster } from '../../support/nodes.js';

/** Every way in which a program sets a text, by the field that the refusal names. */
const SETTERS: readonly (readonly [field: string, set: (text: string, node: TestNode) => unknown])[] = [
  ['name', (name, { gatekeeper }) => gatekeeper.definitions.define({ name, duration: '10s' })],
  ['groupPattern', (groupPattern, { gatekeeper }) => gatekeeper.definitions.edit('job', { groupPattern })],
  ['acquirerPattern', (acquirerPattern, { gatekeeper }) => gatekeeper.definitions.edit('job', { acquirerPattern })],
  ['reason', (reason, { gatekeeper }) => gatekeeper.definitions.edit('job', { permits: 2 }, { reason })],
  ['by', (by, { gatekeeper }) => gatekeeper.definitions.edit('job', { permits: 2 }, { by })],
  ['reason', (reason, { gatekeeper }) => gatekeeper.definitions.pause('job', { reason })],
  ['reason', (reason, { gatekeeper }) => gatekeeper.definitions.remove('job', { reason })],
  ['reason', (reason, { gatekeeper }) => gatekeeper.definitions.revoke('job', 'id', { reason })],
  ['reason', (reason, { gatekeeper }) => gatekeeper.definitions.pauseAll({ reason })],
  ['names', (names, { gatekeeper }) => gatekeeper.definitions.pauseAll({ names })],
  ['to.groupPattern', (groupPattern, { gatekeeper }) => gatekeeper.definitions.migrate({ to: { groupPattern } })],
  ['group', (group, { gatekeeper }) => gatekeeper.definitions.migrate({ group, to: { acquirerPattern: 'a' } })],
  ['reason', (reason, { gatekeeper }) => gatekeeper.definitions.migrate({ to: { groupPattern: 'a' } }, { reason })],
  ['holder', (holder, { gatekeeper }) => gatekeeper.tryAcquire('job', { holder })],
  ['acquirer', (acquirer, { gatekeeper }) => gatekeeper.tryAcquire('job', { acquirer })],
  ['job', (job, { gatekeeper }) => gatekeeper.run('job', () => 1, { job })],
  ["a semaphore's name", (name, { gatekeeper }) => gatekeeper.tryAcquire(name, { duration: '10s' })],
  ['group', (group) => parseGatekeeperOptions({ store: memory(), group })],
  ['acquirer', (acquirer) => parseGatekeeperOptions({ store: memory(), acquirer })],
  ['version', (version) => parseGatekeeperOptions({ store: memory(), version })],
  [
    'definitions.0.groupPattern',
    (groupPattern) =>
      parseGatekeeperOptions({ store: memory(), definitions: [{ name: 'a', duration: '1m', groupPattern }] }),
  ],
  ['clusterName', (clusterName) => hazelcast({ clusterName })],
  ['mapName', (mapName) => hazelcast({ mapName })],
  ["files()'s folder", (folder) => files(folder)],
];

describe('a text that would break a line, a terminal or a table', () => {
  const cluster = useCluster();

  it.each(REFUSED)('is refused wherever a program sets one, with its field and escaped (%s)', async (_, character) => {
    const node = await cluster().node();
    const stored = await node.store.records.read('semaphore:job');
    for (const [field, set] of SETTERS) {
      const error = await attempt(() => set(`a${character}b`, node));
      expect([field, error]).toEqual([field, expect.any(InvalidOptionsError)]);
      expect((error as Error).message).toContain(field);
      expect((error as Error).message).toMatch(/"a\\.+b"/);
      expect((error as Error).message).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }
    expect(await node.store.records.read('semaphore:job')).toBe(stored);
  });

  it('says of a reason of two lines what to do', async () => {
    const { gatekeeper } = await cluster().node();
    const pausing = gatekeeper.definitions.pause('job', { reason: 'first\nsecond' });
    await expect(pausing).rejects.toThrow(
      'reason: "first\\nsecond" has control characters: give one line without them',
    );
  });

  it('that is stored already stays readable, and is no obstacle to a pause', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.edit('job', { permits: 2 }, { by: 'ann', reason: 'REASON' });
    const stored = JSON.stringify(await nodes.record()).replace('REASON', 'a\\u0000b\\n');
    await nodes.overwrite(stored);
    expect((await gatekeeper.definitions.get('job'))?.change?.reason).toBe('a\u0000b\n');
    expect((await gatekeeper.definitions.pause('job')).pause).toBeDefined();
  });

  it.each([
    ['letters of any script', 'Wartung läuft – 引き継ぎ 🚚'],
    ['an escape that is written out', String.raw`a\x00b\n`],
  ])('is not one with %s', async (_, reason) => {
    const { gatekeeper } = await cluster().node();
    expect((await gatekeeper.definitions.pause('job', { reason })).pause).toMatchObject({ reason });
    await gatekeeper.definitions.edit('job', { groupPattern: String.raw`a\x00|\t` });
  });
});

async function attempt(action: () => unknown): Promise<unknown> {
  try {
    return await action();
  } catch (error) {
    return error;
  }
}
