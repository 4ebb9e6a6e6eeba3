import { changesOf, undoOf } from '../../lib/console/web/audit/changes.js';
import type { AuditEntry } from '../../lib/gatekeeper/index.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

const definitions = ['a-one', 'a-two', 'b-one'].map((name) => ({ name, duration: '10s' }));

interface Entry {
  readonly id: string;
  readonly semaphore: string;
  readonly bulk?: string;
}

describe.each(PLATFORMS)('the undo over the API on %s', (platform) => {
  const start = useConsoles();
  const boot = async (settings = SETTINGS): Promise<Console> => {
    const console = await start({ platform, gatekeeper: { definitions }, console: settings });
    await until(async () => (await console.gatekeeper.state()).semaphores.length === definitions.length);
    return console;
  };
  /** The newest entries once all are written. */
  const log = async ({ get }: Console, count: number): Promise<Entry[]> => {
    await until(async () => (await get('/api/audit')).json.entries.length >= count);
    return (await get('/api/audit')).json.entries;
  };

  it('plans and undoes an edit, as an edit of the visitor', async () => {
    const console = await boot();
    const { send, get } = console;
    await send('PATCH', '/api/semaphores/a-one', { permits: 4 });
    const [{ id: entry }] = (await log(console, 1)) as [Entry];
    expect((await send('POST', '/api/undo', { entry })).json.steps).toMatchObject([
      { name: 'a-one', kind: 'edit', outcome: 'planned', from: { permits: 4 }, to: { permits: 1 } },
    ]);
    expect((await get('/api/semaphores/a-one')).json.semaphore.revision).toBe(2);
    const undone = await send('POST', '/api/undo', { entry, dryRun: false, reason: 'oops' });
    expect(undone.json.steps).toMatchObject([{ outcome: 'undone' }]);
    expect((await get('/api/semaphores/a-one')).json.semaphore).toMatchObject({
      definition: { permits: 1 },
      change: { by: 'dora', reason: 'oops' },
    });
    expect((await log(console, 2))[0]).toMatchObject({ undoes: entry });
  });

  it('needs the role of the change that it makes', async () => {
    const console = await boot();
    const { send } = console;
    await send('PATCH', '/api/semaphores/a-one', { permits: 4 });
    await send('POST', '/api/semaphores/a-two/pause', {});
    const [pause, edit] = (await log(console, 2)) as [Entry, Entry];
    const undo = ({ id: entry }: Entry) =>
      send('POST', '/api/undo', { entry, dryRun: false }, { token: TOKENS.operate });
    expectProblem(await undo(edit), 403, 'role-too-low');
    expect((await undo(pause)).json.steps).toMatchObject([{ kind: 'resume', outcome: 'undone' }]);
  });

  it('is refused with the later change, for kinds without an undo, and for unknown entries', async () => {
    const console = await boot();
    const { send } = console;
    await send('PATCH', '/api/semaphores/a-one', { permits: 4 });
    const [{ id: entry }] = (await log(console, 1)) as [Entry];
    await send('POST', '/api/semaphores/a-one/pause', { reason: 'broken' }, { token: TOKENS.operate });
    const refused = await send('POST', '/api/undo', { entry, dryRun: false });
    expectProblem(refused, 409, 'edit-conflict');
    expect(refused.json.change).toMatchObject({ kind: 'pause', by: 'otto', reason: 'broken' });
    expectProblem(await send('POST', '/api/undo', { entry: 'none.1' }), 404, 'unknown-entry');
    expectProblem(await send('POST', '/api/undo', { entry: '"' }), 400, 'invalid-options');

    const taken = await send('POST', '/api/permits', { semaphore: 'a-two' });
    await send('POST', '/api/semaphores/a-two/revoke', { permitId: taken.json.id });
    const [revoke] = (await log(console, 3)) as [Entry];
    expectProblem(await send('POST', '/api/undo', { entry: revoke.id, dryRun: false }), 409, 'undo-refused');
  });

  it('undoes a change of many over several calls, of which each entry has one id', async () => {
    const console = await boot();
    const { send, gatekeeper } = console;
    const first = (await send('POST', '/api/pause', { names: 'a-.*', limit: 1 })).json;
    expect((await send('POST', '/api/pause', { names: 'a-.*', limit: 1, bulk: first.bulk })).json.remaining).toBe(0);
    expect(new Set((await log(console, 2)).map(({ bulk }) => bulk))).toEqual(new Set([first.bulk]));
    const undone = await send('POST', '/api/undo', { entry: first.bulk, dryRun: false }, { token: TOKENS.operate });
    expect(undone.json.steps.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['undone', 'undone']);
    expect((await gatekeeper.state()).semaphores.some(({ pause }) => pause)).toBe(false);
  });

  it('of a limited token shows and undoes only its own names', async () => {
    const limited = { token: 'token-of-lisa-0123456789', name: 'lisa', role: 'operate' as const, names: 'a-.*' };
    const console = await boot({ ...SETTINGS, tokens: [...SETTINGS.tokens!, limited] });
    const { send, gatekeeper } = console;
    const { bulk } = (await send('POST', '/api/pause', {})).json;
    await log(console, 3);
    const undone = await send('POST', '/api/undo', { entry: bulk, dryRun: false }, { token: limited.token });
    expect(undone.json.steps.map(({ name }: { name: string }) => name)).toEqual(['a-one', 'a-two']);
    expect((await gatekeeper.definitions.get('b-one'))?.pause).toBeDefined();
    const other = (await gatekeeper.audit.read(100)).find(({ semaphore }) => semaphore === 'b-one')!;
    expectProblem(await send('POST', '/api/undo', { entry: other.id }, { token: limited.token }), 404, 'unknown-entry');
  });
});

describe('the undo in the list of changes', () => {
  const entry = (changes: Partial<AuditEntry>): AuditEntry =>
    ({ id: 'e1', at: 1, action: 'edit', semaphore: 'job', by: 'ann', revision: 2, ...changes }) as AuditEntry;
  const offerOf = (changes: Partial<AuditEntry>, roles = ['operate', 'define']) =>
    changesOf([entry(changes)]).map((change) =>
      undoOf(change, (role) => (roles.includes(role) ? undefined : `needs ${role}`)),
    )[0];

  it.each(['edit', 'pause', 'follow', 'remove', 'migrate'] as const)('is offered for the kind %s', (action) => {
    expect(offerOf({ action })).toEqual({ kind: 'offered' });
  });

  it.each([
    ['a revoke', { action: 'revoke' }, /does not come back/],
    ['a run by hand', { action: 'run-now' }, /the run has begun/],
    ['a change that was not made', { outcome: 'not-made' }, /was not made/],
    ['an entry of a former version', { id: undefined }, /a former version wrote it/],
  ] as const)('is not offered for %s, and says why', (_, changes, why) => {
    expect(offerOf(changes as Partial<AuditEntry>)).toEqual({ kind: 'refused', why: expect.stringMatching(why) });
  });

  it('is not offered to a user who lacks the role, and says which', () => {
    expect(offerOf({ action: 'follow' }, ['operate'])).toEqual({ kind: 'refused', why: 'needs define' });
    expect(offerOf({ action: 'pause' }, ['operate'])).toEqual({ kind: 'offered' });
  });

  it('is over where another change has undone it', () => {
    const undo = entry({ id: 'e2', undoes: 'e1', by: 'bob' });
    const offers = changesOf([undo, entry({})]).map((change) => undoOf(change, () => undefined));
    expect(offers).toEqual([{ kind: 'offered' }, { kind: 'undone', by: 'bob' }]);
  });
});
