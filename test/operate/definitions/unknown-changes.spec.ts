import { type AuditEntry, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { failWrite, faultsOfWrites, toldOutage } from '../../support/faulty-writes.js';
import { JOB, type TestNode, useCluster } from '../../support/nodes.js';
import { throughout } from './windows.js';

/** Unsent entries are sent again within this time, in ms. */
const SENT = 10_000;

/** The answer of the next write is lost, and all calls after it fail, until the returned function is called. */
function loseAnswer({ store }: TestNode, { isApplied }: { readonly isApplied: boolean }): () => void {
  let isAway = false;
  store.script = async (call, go) => {
    if (isAway) throw new StoreUnavailableError('away');
    if (call !== 'compareAndSet') return go();
    isAway = true;
    if (isApplied) await go();
    throw new UnknownOutcomeError('no answer');
  };
  return () => void (store.script = undefined);
}

describe('a change whose answer was lost, and whose call failed', () => {
  const cluster = useCluster();

  async function changed({ isApplied }: { readonly isApplied: boolean }) {
    const nodes = cluster();
    const [node, other] = [await nodes.node({ definitions: [JOB] }), await nodes.node({ definitions: [JOB] })];
    const mend = loseAnswer(node, { isApplied });
    const pausing = node.gatekeeper.definitions.pause('job', { by: 'ann', reason: 'broken' });
    await expect(throughout(nodes, pausing)).rejects.toThrow(UnknownOutcomeError);
    mend();
    await nodes.time.advance(SENT);
    const log = async () =>
      (await other.gatekeeper.audit.read(100)).map(({ action, by, outcome }: AuditEntry) => [action, by, outcome]);
    return { definitions: other.gatekeeper.definitions, audit: other.gatekeeper.audit, log, nodes };
  }

  it('is in the audit log as made, if the record has it', async () => {
    const { log } = await changed({ isApplied: true });
    expect(await log()).toEqual([['pause', 'ann', undefined]]);
  });

  it('is still in the log as made after the next change', async () => {
    const { log, definitions, nodes } = await changed({ isApplied: true });
    await definitions.resume('job', { by: 'bob' });
    await nodes.time.advance(1000);
    expect(await log()).toEqual([
      ['pause', 'ann', undefined],
      ['resume', 'bob', undefined],
    ]);
  });

  it('can be undone', async () => {
    const { audit, definitions } = await changed({ isApplied: true });
    const [{ id }] = (await audit.read(1)) as [AuditEntry];
    expect((await definitions.undo(id!, { by: 'bob' })).steps).toMatchObject([{ outcome: 'undone' }]);
    expect((await definitions.get('job'))!.pause).toBeUndefined();
  });

  it('has an unknown outcome as long as it may still be applied', async () => {
    const { log } = await changed({ isApplied: false });
    expect(await log()).toEqual([['pause', 'ann', 'unknown']]);
  });

  it('was not made if another change has taken its place, and is no change to undo', async () => {
    const { log, audit, definitions, nodes } = await changed({ isApplied: false });
    await definitions.edit('job', { permits: 2 }, { by: 'bob' });
    await nodes.time.advance(1000);
    expect(await log()).toEqual([
      ['pause', 'ann', 'not-made'],
      ['edit', 'bob', undefined],
    ]);
    const [{ id }, edit] = (await audit.read(2)) as [AuditEntry, AuditEntry];
    await expect(definitions.undo(id!)).rejects.toThrow('it was not made');
    expect((await definitions.undo(edit.id!)).steps).toMatchObject([{ outcome: 'undone' }]);
  });
});

describe('a revoke whose answer was lost, and whose call failed', () => {
  const cluster = useCluster();

  it.each([true, false])('is in the audit log with an unknown outcome, applied: %s', async (isApplied) => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB] });
    const { definitions, audit } = node.gatekeeper;
    const permit = (await node.gatekeeper.semaphore('job').tryAcquire())!;
    await nodes.time.advance(1000);
    const mend = loseAnswer(node, { isApplied });
    const revoking = definitions.revoke('job', permit.id, { by: 'ann', reason: 'stuck' });
    await expect(throughout(nodes, revoking)).rejects.toThrow(UnknownOutcomeError);
    mend();
    await nodes.time.advance(SENT);
    expect(await audit.read(100)).toMatchObject([
      { action: 'revoke', by: 'ann', reason: 'stuck', outcome: 'unknown', permit: { id: permit.id } },
    ]);
  });

  it('has one entry if the store is back in time', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB] });
    const permit = (await node.gatekeeper.semaphore('job').tryAcquire())!;
    await nodes.time.advance(1000);
    failWrite(node, 1, 'was applied, and its answer was lost', /job/);
    expect(await throughout(nodes, node.gatekeeper.definitions.revoke('job', permit.id))).toBe(true);
    await nodes.time.advance(SENT);
    const entries = await node.gatekeeper.audit.read(100);
    expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([['revoke', undefined]]);
  });
});

describe('a change and its second call', () => {
  const cluster = useCluster();

  it.each(faultsOfWrites(1))('have one entry in the audit log when write %d of the first %s', async (write, fault) => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB] });
    const { definitions, audit } = node.gatekeeper;
    await nodes.time.advance(1000);
    const faulty = failWrite(node, write, fault);
    await throughout(nodes, toldOutage(definitions.pause('job', { by: 'ann' })));
    expect(faulty.hasFailed).toBe(true);
    faulty.mend();
    await throughout(nodes, definitions.pause('job', { by: 'ann' }));
    await nodes.time.advance(SENT);
    expect((await definitions.get('job'))!.revision).toBe(2);
    const pauses = (await audit.read(100)).filter(({ action }) => action === 'pause');
    expect(pauses.map(({ outcome }) => outcome)).toEqual([undefined]);
  });

  it('has an entry if another change hid it from its own call', async () => {
    const nodes = cluster();
    const [node, other] = [await nodes.node({ definitions: [JOB] }), await nodes.node({ definitions: [JOB] })];
    let count = 0;
    node.store.script = async (call, go) => {
      if (call !== 'compareAndSet' || ++count > 1) return go();
      await go();
      await other.gatekeeper.definitions.edit('job', { permits: 2 }, { by: 'bob' });
      throw new UnknownOutcomeError('no answer');
    };
    await throughout(nodes, node.gatekeeper.definitions.pause('job', { by: 'ann' }));
    await nodes.time.advance(SENT);
    const log = await node.gatekeeper.audit.read(100);
    expect(log.map(({ action, outcome }) => [action, outcome]).toSorted()).toEqual([
      ['edit', undefined],
      ['pause', undefined],
    ]);
  });
});
