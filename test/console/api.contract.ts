import { until } from '../support/apps.js';
import type { Console } from './consoles.js';

/** Checks the fields that every error answer has. */
export function expectProblem(answer: Awaited<ReturnType<Console['get']>>, status: number, code: string): void {
  expect(answer.json).toMatchObject({ type: `urn:gatekeeper:${code}`, code, status, title: expect.any(String) });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

/** Behaviour of the API in every kind of application. */
export function describeApi(start: () => Promise<Console>): void {
  const JOB = { name: 'job', duration: '10s' };

  it('tells who asks, of which node', async () => {
    const { get, gatekeeper } = await start();
    const { status, json, headers } = await get('/api/session');
    expect(status).toBe(200);
    expect(json).toMatchObject({ user: 'dora', role: 'define', readOnly: false, node: gatekeeper.node });
    expect(json.store.connected).toBe(true);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('defines, edits, pauses, resumes, and removes, each with the name of who did it', async () => {
    const { send, get } = await start();
    const defined = await send('POST', '/api/semaphores', { ...JOB, reason: 'needed' });
    expect([defined.status, defined.json.revision]).toEqual([201, 1]);
    expect(defined.json.change).toMatchObject({ kind: 'define', by: 'dora', reason: 'needed' });
    const edited = await send('PATCH', '/api/semaphores/job', { permits: 3, expectedRevision: 1 });
    expect(edited.json).toMatchObject({ revision: 2, definition: { permits: 3, duration: 10_000 } });
    const paused = await send('POST', '/api/semaphores/job/pause', { reason: 'maintenance' });
    expect(paused.json.pause).toMatchObject({ by: 'dora', reason: 'maintenance', groupPattern: '.*' });
    expect((await get('/api/semaphores?paused=true')).json.semaphores.map(({ name }: any) => name)).toEqual(['job']);
    const resumed = await send('POST', '/api/semaphores/job/resume');
    expect(resumed.json.pause).toBeUndefined();
    expect((await send('DELETE', '/api/semaphores/job')).json).toEqual({ removed: true });
    expect((await send('DELETE', '/api/semaphores/job')).json).toEqual({ removed: false });
    const audit = async () => (await get('/api/audit?semaphore=job')).json.entries;
    // Entries are gathered for a moment before they are written.
    await until(async () => (await audit()).length === 5);
    expect((await audit()).map(({ action, by }: any) => [action, by])).toEqual(
      ['remove', 'resume', 'pause', 'edit', 'define'].map((action) => [action, 'dora']),
    );
  });

  it('shows one semaphore with who holds it, and takes a permit away', async () => {
    const { send, get, gatekeeper } = await start();
    await send('POST', '/api/semaphores', JOB);
    const permit = await gatekeeper.tryAcquire('job');
    const { json } = await get('/api/semaphores/job');
    expect(json.semaphore.holders).toMatchObject([{ id: permit!.id, isMine: true }]);
    expect(json.explanation).toMatchObject({ outcome: 'refreshed', holders: [{ id: permit!.id }] });
    expect((await get('/api/semaphores?held=true')).json.semaphores).toHaveLength(1);
    expect((await send('POST', '/api/semaphores/job/revoke', { permitId: permit!.id })).json).toEqual({
      revoked: true,
    });
    expect((await send('POST', '/api/semaphores/job/revoke', { permitId: permit!.id })).json).toEqual({
      revoked: false,
    });
    expect((await get('/api/semaphores/job')).json.semaphore.free).toBe(1);
  });

  it('does not send the list again to whom has it, until something else than a time is different', async () => {
    const { send, get, gatekeeper } = await start();
    await send('POST', '/api/semaphores', JOB);
    const permit = await gatekeeper.tryAcquire('job');
    const first = await get('/api/semaphores');
    const headers = { 'if-none-match': first.headers.get('etag')! };
    await gatekeeper.refresh(permit!);
    const second = await get('/api/semaphores', { headers });
    expect([second.status, second.text]).toEqual([304, '']);
    expect((await get('/api/semaphores')).json.semaphores[0].holders[0].expiresAt).toBeGreaterThanOrEqual(
      first.json.semaphores[0].holders[0].expiresAt,
    );
    expect((await get('/api/semaphores?search=other', { headers })).status).toBe(200);
    await permit!.release();
    const third = await get('/api/semaphores', { headers });
    expect([third.status, third.json.semaphores[0].holders]).toEqual([200, []]);
  });

  it('says who was faster, and when', async () => {
    const { send } = await start();
    await send('POST', '/api/semaphores', JOB);
    await send('PATCH', '/api/semaphores/job', { permits: 2, reason: 'first' });
    const conflict = await send('PATCH', '/api/semaphores/job', { permits: 3, expectedRevision: 1 });
    expectProblem(conflict, 409, 'edit-conflict');
    const change = { kind: 'edit', by: 'dora', reason: 'first', at: expect.any(Number) };
    expect(conflict.json).toMatchObject({ revision: 2, expectedRevision: 1, change });
    expectProblem(await send('POST', '/api/semaphores', JOB), 409, 'already-defined');
    for (const verb of ['pause', 'resume']) {
      const late = await send('POST', `/api/semaphores/job/${verb}`, { expectedRevision: 1 });
      expectProblem(late, 409, 'edit-conflict');
    }
    expect((await send('POST', '/api/semaphores/job/pause', { expectedRevision: 2 })).status).toBe(200);
  });

  it('refuses bad input with every fault, and what is not there', async () => {
    const { send, get } = await start();
    const bad = await send('POST', '/api/semaphores', {
      name: '',
      permits: -1,
      duration: 'soon',
      groupPattern: '(',
      x: 1,
    });
    expectProblem(bad, 400, 'invalid-options');
    expect(bad.json.faults).toHaveLength(5);
    expect(bad.json.faults.join('\n')).toMatch(
      /^name: is empty.*^groupPattern: "\(".*^permits: -1.*^duration: "soon".*^x: not known here; the options are name, /ms,
    );
    const pattern = await send('POST', '/api/semaphores', { ...JOB, groupPattern: '(' });
    expectProblem(pattern, 400, 'invalid-options');
    expect(pattern.json.faults).toEqual([expect.stringMatching(/^groupPattern: "\("/)]);
    expectProblem(await send('POST', '/api/semaphores', { ...JOB, duration: 20 }), 400, 'invalid-options');
    expectProblem(await get('/api/semaphores?paused=maybe'), 400, 'invalid-options');
    expectProblem(await get('/api/history?limit=0'), 400, 'invalid-options');
    expectProblem(await get('/api/semaphores/unknown'), 404, 'unknown-semaphore');
    expectProblem(await send('POST', '/api/semaphores/unknown/pause'), 404, 'unknown-semaphore');
    expectProblem(await send('POST', '/api/semaphores/unknown/reset'), 409, 'not-in-code');
  });

  it('pauses and resumes many at once, a few at a time if that is asked for', async () => {
    const { send } = await start();
    for (const name of ['export-a', 'export-b', 'import']) await send('POST', '/api/semaphores', { ...JOB, name });
    const one = await send('POST', '/api/pause', { names: 'export-.*', limit: 1, reason: 'maintenance' });
    expect(one.json).toEqual({ done: ['export-a'], failed: [], remaining: 1, bulk: expect.any(String) });
    expect((await send('POST', '/api/pause', {})).json.done).toEqual(['export-b', 'import']);
    expect((await send('POST', '/api/resume', { names: 'import' })).json).toMatchObject({ done: ['import'] });
    expectProblem(await send('POST', '/api/pause', { names: '(' }), 400, 'invalid-options');
  });

  it('only plans a migration unless dryRun is false', async () => {
    const { send, get } = await start();
    await send('POST', '/api/semaphores', JOB);
    const request = { group: 'default', to: { groupPattern: 'dr-site' } };
    const planned = await send('POST', '/api/migrations', request);
    expect(planned.json).toMatchObject({ steps: [{ name: 'job', outcome: 'planned' }], remaining: 0 });
    expect((await get('/api/semaphores/job')).json.semaphore.revision).toBe(1);
    const carriedOut = await send('POST', '/api/migrations', { ...request, dryRun: false, reason: 'moving' });
    expect(carriedOut.json.steps).toMatchObject([{ outcome: 'migrated', to: { groupPattern: 'dr-site' } }]);
    const { semaphore } = (await get('/api/semaphores/job')).json;
    expect(semaphore).toMatchObject({ revision: 2, change: { kind: 'migrate', by: 'dora', reason: 'moving' } });
    expectProblem(await send('POST', '/api/migrations', { to: {} }), 400, 'invalid-options');
    await send('POST', '/api/semaphores', { ...JOB, name: 'other' });
    const batch = { to: { groupPattern: 'third' }, limit: 1 };
    for (const dryRun of [true, false]) {
      const { json } = await send('POST', '/api/migrations', { ...batch, dryRun });
      expect([json.steps.map(({ name }: any) => name), json.remaining]).toEqual([['job'], 1]);
    }
  });

  it('tells of a definition what is wrong with it and whom it would let through', async () => {
    const { send, get, gatekeeper } = await start();
    await until(async () => (await get('/api/nodes')).json.nodes.length > 0);
    const draft = { ...JOB, groupPattern: 'def.*', acquirerPattern: 'app[2-9]', permits: 1 };
    const { group, acquirer, instance } = gatekeeper.node;
    expect((await send('POST', '/api/preview', draft)).json).toEqual({
      faults: [],
      nodes: [{ group, acquirer, instance, matches: false, mismatch: 'acquirer' }],
    });
    const faulty = await send('POST', '/api/preview', {
      ...draft,
      acquirerPattern: 'app1',
      permits: 'x',
      groupPattern: '(',
    });
    expect(faulty.json.faults).toHaveLength(2);
    expect(faulty.json.nodes).toMatchObject([{ matches: false, mismatch: 'group' }]);
    expect((await send('POST', '/api/preview', { ...draft, acquirerPattern: 'app1' })).json.nodes).toMatchObject([
      { matches: true },
    ]);
  });

  it('takes any name that a semaphore can have', async () => {
    const { send, get } = await start();
    const name = 'a/b? ü%2F#"<script>';
    await send('POST', '/api/semaphores', { ...JOB, name });
    expect((await get(`/api/semaphores/${encodeURIComponent(name)}`)).json.semaphore.name).toBe(name);
  });

  it('lists the nodes, and explains the decision for this one', async () => {
    const { get, gatekeeper } = await start();
    await until(async () => (await get('/api/nodes')).json.nodes.length > 0);
    expect((await get('/api/nodes')).json.nodes).toMatchObject([{ ...gatekeeper.node, holds: [] }]);
    expect((await get('/api/explain/unknown')).json).toMatchObject({ outcome: 'denied', reason: 'no-definition' });
    expect((await get('/api/history')).json).toEqual({ entries: [] });
  });
}
