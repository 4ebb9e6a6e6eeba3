import {
  type StoreDefinition,
  StoreUnavailableError,
  type StrategyInput,
  UnknownOutcomeError,
  memory,
} from 'nestjs-gatekeeper';
import { until } from '../support/apps.js';
import { ScriptedStore } from '../support/scripted-store.js';
import { expectProblem } from './api.contract.js';
import { allocating, allocatingFrom, storeWithMap, untilOwned } from './allocating.js';
import { PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const path = '/api/allocation/groups/orders';

describe.each(PLATFORMS)('allocation over the API on %s', (platform) => {
  const start = useConsoles();
  /** app1 and app2 own three resources each. */
  async function two(given?: StoreDefinition) {
    const store = given ?? (await storeWithMap(start));
    const node = (acquirer: string) => start({ platform, store, gatekeeper: { acquirer, ...allocating('abcdef') } });
    const [one, other] = [await node('app1'), await node('app2')];
    await untilOwned(
      one,
      ({ nodes }) => nodes.length === 2 && nodes.every(({ owned }: { owned: number }) => owned === 3),
    );
    return { one, other };
  }

  it('shows the groups, and of each resource the owner', async () => {
    const { one, other } = await two();
    expect((await one.get('/api/allocation/groups', { token: TOKENS.view })).json.groups).toMatchObject([
      { name: 'orders', resources: 6, unowned: 0, nodes: 2, isRecovering: false },
    ]);
    const { status, json } = await one.get(path);
    expect(status).toBe(200);
    expect(json.nodes).toMatchObject([
      { node: 'app1', owned: 3, weight: 1, isDrained: false },
      { node: 'app2', owned: 3, weight: 1, isDrained: false },
    ]);
    expect(json.resources.map(({ id }: { id: string }) => id)).toEqual([...'abcdef']);
    const instances = new Map([one, other].map(({ gatekeeper: { node } }) => [node.acquirer, node.instance]));
    for (const { node, instance, token } of json.resources) {
      expect({ instance, token }).toEqual({ instance: instances.get(node), token: expect.any(Number) });
    }
    expect((await one.get(`${path}?limit=2`)).json).toMatchObject({ total: 6, resources: { length: 2 } });
  });

  it('plans the loss of a node, and changes nothing', async () => {
    const { one } = await two();
    const { json } = await one.send('POST', `${path}/plan`, { lose: ['app2'] }, { token: TOKENS.view });
    expect(json).toMatchObject({
      total: 3,
      moves: [{ to: 'app1', from: 'app2', why: 'owner-gone' }, {}, {}],
      sentences: [expect.stringMatching(/^3 .* app2 .* app1: ./)],
    });
    expect(json.shares).toContainEqual({ id: 'app1', before: 3, after: 6 });
    expect((await one.get(path)).json.nodes).toMatchObject([{ owned: 3 }, { owned: 3 }]);
  });

  it('counts all resources that would have no owner, also those that the list leaves out', async () => {
    const ids = Array.from({ length: 1200 }, (_, at) => `r-${at}`);
    const { allocation, ...rest } = allocating('');
    const groups = [{ ...allocation!.groups![0]!, resources: () => ids, refreshInterval: '1h' }];
    const store = await storeWithMap(start);
    const alone = await start({ platform, store, gatekeeper: { ...rest, allocation: { groups } } });
    await untilOwned(alone, ({ unowned, total }) => total === 1200 && unowned === 0);
    const plan = async (lose: string[]) =>
      (await alone.send('POST', `${path}/plan`, { lose }, { token: TOKENS.view })).json;
    const [{ node }] = (await alone.get(path)).json.nodes;
    expect(await plan([node])).toMatchObject({ total: 1200, homeless: 1200, moves: { length: 1000 } });
  });

  it('says of a plan what is wrong with a strategy of the application', async () => {
    let isBroken = false;
    const strategy = ({ resources, participants }: StrategyInput): [string, string][] => {
      if (isBroken) throw new Error('no such zone');
      return resources.map((resource) => [resource, participants[0]!.id]);
    };
    const { allocation, ...rest } = allocating('abc');
    const groups = [{ ...allocation!.groups![0]!, strategy }];
    const store = await storeWithMap(start);
    const alone = await start({ platform, store, gatekeeper: { ...rest, allocation: { groups } } });
    await untilOwned(alone, ({ unowned, total }) => total === 3 && unowned === 0);
    isBroken = true;
    const answer = await alone.send('POST', `${path}/plan`, {}, { token: TOKENS.view });
    expectProblem(answer, 500, 'invalid-strategy');
    expect(answer.json.detail).toContain('no such zone');
    isBroken = false;
    expect(await alone.send('POST', `${path}/plan`, {}, { token: TOKENS.view })).toMatchObject({ status: 200 });
  });

  it('pins and drains through any node of the group, with author and reason', async () => {
    const { one, other } = await two();
    const token = TOKENS.operate;
    const away = (await one.get(path)).json.resources.find(({ node }: { node: string }) => node === 'app1').id;
    const pin = { resource: away, node: 'app2', reason: 'near its data' };
    expect((await other.send('POST', `${path}/pin`, pin, { token })).json).toEqual({ done: true });
    await untilOwned(one, ({ resources }) => resources.find(({ id }: { id: string }) => id === away).node === 'app2');
    await one.send('POST', `${path}/unpin`, { resource: away }, { token });
    await one.send('POST', `${path}/drain`, { node: 'app2', reason: 'new disks' }, { token });
    await untilOwned(one, ({ nodes }) => nodes[0].owned === 6 && nodes[1].isDrained);
    const { nodes } = (await one.get(path)).json;
    expect(nodes.map(({ excluded }: { excluded?: string }) => excluded)).toEqual([undefined, 'an operator drains it']);
    await one.send('POST', `${path}/undrain`, { node: 'app2' }, { token });
    await untilOwned(one, ({ nodes }) => nodes[1].owned === 3);
    const audit = async () => (await one.get('/api/audit?semaphore=allocation:orders')).json.entries;
    await until(async () => (await audit()).length === 4);
    expect(await audit()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          action: 'pin',
          by: 'otto',
          reason: 'near its data',
          order: { resource: away, node: 'app2' },
        }),
        expect.objectContaining({ action: 'drain', by: 'otto', reason: 'new disks', order: { node: 'app2' } }),
        expect.objectContaining({ action: 'unpin', order: { resource: away } }),
        expect.objectContaining({ action: 'undrain', order: { node: 'app2' } }),
      ]),
    );
  });

  it('confirms the set in doubt through any node of the group, with author and reason', async () => {
    let letters = 'abcdef';
    const store = await storeWithMap(start);
    const one = await start({ platform, store, gatekeeper: { acquirer: 'app1', ...allocatingFrom(() => letters) } });
    await untilOwned(one, ({ total, unowned }) => total === 6 && unowned === 0);
    const other = await start({ platform, store, gatekeeper: { acquirer: 'app2', ...allocating('abcdef') } });
    await untilOwned(other, ({ nodes }) => nodes.length === 2);
    const confirm = async (body: object = {}) =>
      (await other.send('POST', `${path}/confirm-resources`, body, { token: TOKENS.operate })).json;
    expect(await confirm()).toEqual({ done: false });
    letters = 'ab';
    await one.gatekeeper.allocation.group('orders').rebalance();
    await untilOwned(other, ({ doubt }) => doubt !== undefined);
    expect((await other.get(path)).json).toMatchObject({ doubt: { node: 'app1', known: 6, left: 2 }, total: 6 });
    expect(await confirm({ left: 3 })).toEqual({ done: false });
    expect(await confirm({ reason: 'the shop closed' })).toEqual({ done: true });
    await untilOwned(one, ({ doubt, resources }) => !doubt && resources.every(({ id }: { id: string }) => id <= 'b'));
    const audit = async () => (await other.get('/api/audit?semaphore=allocation:orders')).json.entries;
    await until(async () => (await audit()).length === 1);
    expect(await audit()).toMatchObject([
      { action: 'confirm-resources', by: 'otto', reason: 'the shop closed', order: { left: 2 } },
    ]);
    expectProblem(await other.send('POST', `${path}/confirm-resources`, { left: -1 }), 400, 'invalid-options');
  });

  it('answers that an order changed nothing, and does not put it into the audit log', async () => {
    const { one } = await two();
    const order = async (verb: string, body: object) =>
      (await one.send('POST', `${path}/${verb}`, body, { token: TOKENS.operate })).json;
    expect(await order('undrain', { node: 'app-1' })).toEqual({ done: false });
    expect(await order('unpin', { resource: 'a' })).toEqual({ done: false });
    for (const done of [true, false]) {
      expect(await order('pin', { resource: 'a', node: 'app1' })).toEqual({ done });
      expect(await order('drain', { node: 'app9' })).toEqual({ done });
    }
    const audit = async () => (await one.get('/api/audit?semaphore=allocation:orders')).json.entries;
    await until(async () => (await audit()).length >= 2);
    expect((await audit()).map(({ action }: { action: string }) => action).toSorted()).toEqual(['drain', 'pin']);
  });

  it('puts an order with an unknown outcome into the audit log as such', async () => {
    let state: 'whole' | 'losing the answer' | 'cut' = 'whole';
    const inner = await storeWithMap(start);
    const open: StoreDefinition['open'] = (options) =>
      Object.assign(new ScriptedStore(inner.open(options)), {
        script: async (call: string, go: () => Promise<unknown>, key = '') => {
          if (state === 'whole' || !key.startsWith('allocation:orders:')) return go();
          if (state === 'cut') throw new StoreUnavailableError('cut');
          if (call !== 'compareAndSet') return go();
          state = 'cut';
          await go();
          throw new UnknownOutcomeError('no answer');
        },
      });
    const store = { ...inner, open };
    const node = await start({ platform, gatekeeper: { ...allocating('ab'), store } });
    await untilOwned(node, ({ unowned }) => unowned === 0);
    state = 'losing the answer';
    const drain = () =>
      node.send('POST', `${path}/drain`, { node: 'app9', reason: 'disks' }, { token: TOKENS.operate });
    expectProblem(await drain(), 503, 'unknown-outcome');
    state = 'whole';
    await node.send('POST', `${path}/pin`, { resource: 'a', node: 'app9' }, { token: TOKENS.operate });
    const audit = async () => (await node.get('/api/audit?semaphore=allocation:orders')).json.entries;
    await until(async () => (await audit()).length === 2);
    expect(await audit()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'drain', reason: 'disks', order: { node: 'app9' }, outcome: 'unknown' }),
        expect.not.objectContaining({ outcome: expect.anything() }),
      ]),
    );
  });

  it('says which resources moved, from which node to which, and why', async () => {
    const { one, other } = await two(memory());
    await one.gatekeeper.allocation.group('orders').drain('app2');
    await untilOwned(one, ({ nodes }) => nodes[0].owned === 6);
    const moves = async (query = '') => (await other.get(`${path}/moves${query}`, { token: TOKENS.view })).json;
    const given = ({ step, why }: { step: string; why: string }) => step === 'given' && why === 'drained';
    await until(async () => (await moves()).changes[0].moves.some(given));
    const { now, changes } = await moves();
    const [move] = changes[0].moves;
    expect(move).toEqual({
      step: 'given',
      from: 'app2',
      to: 'app1',
      why: 'drained',
      reason: expect.stringContaining('drained'),
      count: 3,
      resources: expect.any(Array),
    });
    expect(changes[0]).toMatchObject({
      group: 'orders',
      kind: 'moved',
      node: { acquirer: expect.stringMatching(/^app/) },
    });
    expect(now - changes[0].at).toBeLessThan(60_000);
    expect(changes.at(-1)).toMatchObject({
      kind: 'restored',
      total: 0,
      sentence: expect.stringMatching(/^the owner map/),
    });
    const [resource] = move.resources;
    const found = await moves(`?resource=${resource}&node=app2&limit=1`);
    expect(found).toMatchObject({ changes: [{ moves: [{ resources: [resource] }] }], unnamed: 0 });
    expect((await moves('?node=app3')).changes).toEqual([]);
    expectProblem(await one.get(`${path}/moves?limit=1001`), 400, 'invalid-options');
  });

  it('shows the other groups if the owner map of one can not be read', async () => {
    const store = await storeWithMap(start);
    const { allocation, ...rest } = allocating('ab');
    const groups = [...allocation!.groups!, { ...allocation!.groups![0]!, name: 'other' }];
    const node = await start({ platform, store, gatekeeper: { ...rest, allocation: { groups } } });
    await untilOwned(node, ({ unowned }) => unowned === 0);
    const texts = store.open({ callTimeout: 1000 });
    const key = 'allocation:root:other';
    await until(async () => texts.records.compareAndSet(key, await texts.records.read(key), 'no record'));
    const found = async () => (await node.get('/api/allocation/groups')).json.groups;
    await until(async () => (await found())[1]?.faults.length > 0);
    expect(await found()).toEqual([
      { name: 'orders', resources: 2, unowned: 0, moving: 0, nodes: 1, isRecovering: false, faults: [] },
      { name: 'other', isRecovering: false, faults: [expect.stringMatching(/other/)] },
    ]);
  });

  it('reads the members once for the list, however many groups there are', async () => {
    const calls: string[] = [];
    const inner = memory();
    const script = (call: string, go: () => Promise<unknown>, key = '') => (calls.push(`${call} ${key}`), go());
    const open: StoreDefinition['open'] = (options) =>
      Object.assign(new ScriptedStore(inner.open(options)), { script });
    const { allocation, ...rest } = allocating('ab');
    const groups = Array.from({ length: 20 }, (_, at) => ({ ...allocation!.groups![0]!, name: `group-${at}` }));
    const store = { ...inner, open };
    const node = await start({
      platform,
      gatekeeper: { ...rest, membership: { lease: '60s' }, store, allocation: { groups } },
    });
    const readings = async () => {
      calls.length = 0;
      expect((await node.get('/api/allocation/groups')).json.groups).toHaveLength(20);
      return calls.filter((call) => call.startsWith('readMany members:')).length;
    };
    // The membership itself reads them too, and so does each group until it is divided.
    await until(async () => (await readings()) < 10);
  });

  it('refuses a group that the node does not have, and one that the token may not see', async () => {
    const token = 'token-of-lisa-0123456789';
    const tokens = [...SETTINGS.tokens!, { token, name: 'lisa', role: 'operate', names: 'allocation:other' } as const];
    const { get, send } = await start({ platform, gatekeeper: allocating('ab'), console: { tokens } });
    expectProblem(await get('/api/allocation/groups/other'), 404, 'unknown-group');
    expectProblem(await get(path, { token }), 403, 'token-limited');
    expectProblem(await send('POST', `${path}/drain`, { node: 'app1' }, { token }), 403, 'token-limited');
    expect((await get('/api/allocation/groups', { token })).json.groups).toEqual([]);
  });
});
