import { describe, expect, it } from '@jest/globals';
import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { MapStore } from '../../../lib/allocation/map-store.js';
import { partsOf } from '../../../lib/gatekeeper/index.js';
import { TextCells } from '../../../lib/core/cell/text-cells.js';
import { aRoot } from '../../allocation/maps.js';
import { secondCopyOf } from '../../support/second-copy.js';
import { type TestNode, useCluster } from '../../support/nodes.js';
import { onNextWrite } from '../../support/scripted-store.js';
import { interceptWrites } from '../../support/writes.js';

const { UnknownOutcomeError: ForeignUnknown, StoreUnavailableError: ForeignUnavailable } = await secondCopyOf<
  typeof import('../../../lib/core/store/store.errors.js')
>(['core/store/store.errors.ts']);

/** Errors by which a store may lose the answer of a write. */
const LOST: [string, () => Error][] = [
  ['an error of another copy of the package', () => new ForeignUnknown('no answer')],
  ['an error of an unknown class', () => new TypeError("Cannot read properties of undefined (reading 'write')")],
];

function loseNextAnswer({ store }: Pick<TestNode, 'store'>, error: () => Error): void {
  onNextWrite(store, async (go) => {
    await go();
    throw error();
  });
}

describe.each(LOST)('a write that was applied, and ended with %s', (_kind, error) => {
  const cluster = useCluster();

  it('is looked for: its permit is granted', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    loseNextAnswer(node, error);
    const permit = (await node.gatekeeper.tryAcquire('job'))!;
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
    expect(permit.isHeld).toBe(true);
  });

  it('leaves no permit behind if the store stays away', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    onNextWrite(store, async (go) => {
      await go();
      store.script = () => Promise.reject(new StoreUnavailableError('away'));
      throw error();
    });
    const asking = gatekeeper.tryAcquire('job').catch((failure: unknown) => failure);
    await nodes.time.advance(3000);
    expect(await asking).toBeInstanceOf(UnknownOutcomeError);
    store.script = undefined;
    await nodes.time.advance(6000);
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('is noted in the audit log with an unknown outcome', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    onNextWrite(store, async (go) => {
      await go();
      store.script = () => Promise.reject(new StoreUnavailableError('away'));
      throw error();
    });
    const pausing = gatekeeper.definitions.pause('job').catch((failure: unknown) => failure);
    await nodes.time.advance(3000);
    expect(await pausing).toBeInstanceOf(UnknownOutcomeError);
    store.script = undefined;
    await nodes.time.advance(6000);
    expect(await gatekeeper.audit.read(10)).toMatchObject([{ action: 'pause', semaphore: 'job' }]);
  });

  it('is told of an owner map as unknown', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const unknown: string[] = [];
    const map = new MapStore('queues', partsOf(node.gatekeeper).context, ({ nonce }) => void unknown.push(nonce));
    const expected = await map.readRoot();
    loseNextAnswer(node, error);
    const round = { kind: 'commit', why: 'changed', root: aRoot({ nonce: 'lost' }), revoked: [], granted: [] } as const;
    expect(await map.commit(expected, { ...round, owned: new Map(), limbo: new Map() })).toBe(false);
    expect(unknown).toEqual(['lost']);
  });

  it('is found in the text of a task', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const letThrough = interceptWrites(store.tasks, 'create', async (go) => {
      letThrough();
      await go();
      throw error();
    });
    const { context } = partsOf(gatekeeper);
    const texts = new TextCells(context.store.tasks, context);
    const writing = texts.write('mail:x', undefined, 'text');
    await nodes.time.advance(1000);
    expect(await writing).toEqual({ isWritten: true });
  });
});

describe('a write that another copy of the package refused', () => {
  const cluster = useCluster();

  it('counts as refused', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    onNextWrite(store, () => Promise.reject(new ForeignUnavailable('refused')));
    const before = store.calls.compareAndSet;
    await expect(gatekeeper.tryAcquire('job')).rejects.toThrow(StoreUnavailableError);
    await nodes.time.advance(6000);
    expect(store.calls.compareAndSet - before).toBe(1);
  });
});
