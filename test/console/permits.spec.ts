import { memory } from 'nestjs-gatekeeper';
import type { MemoryDriver } from '../../lib/stores/memory/memory.driver.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, TOKENS, useConsoles, willHangUp } from './consoles.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

const JOB = { name: 'job', duration: '10s' };

describe.each(PLATFORMS)('permits over HTTP on %s', (platform) => {
  const start = useConsoles();
  const boot = (options = {}) => start({ platform, gatekeeper: { definitions: [JOB] }, ...options });
  const take = ({ send }: Console, body: object = {}, options = {}) =>
    send('POST', '/api/permits', { semaphore: 'job', ...body }, options);

  it('are granted, refreshed and released by any node, and refused to others meanwhile', async () => {
    const store = memory();
    const [one, other] = [await boot({ store }), await boot({ store })];
    const granted = await take(one, { holder: 'script' });
    expect(granted.status).toBe(201);
    const { id, token, expiresAt } = granted.json;
    expect(granted.json).toMatchObject({ semaphore: 'job', holder: 'script', slot: 0, id: expect.any(String) });
    expect(granted.json.remaining).toBeGreaterThan(9000);
    expect(granted.json.remaining).toBeLessThan(10_000);
    const denied = await take(other);
    expectProblem(denied, 409, 'denied');
    expect(denied.json).toMatchObject({ reason: 'no-permit', holders: [{ id, acquirer: 'dora', holder: 'script' }] });
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    const refreshed = await other.send('POST', `/api/permits/${id}/refresh`, { semaphore: 'job', token });
    expect(refreshed.json).toMatchObject({ id, token, slot: 0 });
    expect(refreshed.json.expiresAt).toBeGreaterThan(expiresAt);
    expect((await one.send('POST', `/api/permits/${id}/release`, { semaphore: 'job' })).json).toEqual({
      released: true,
    });
    expect((await one.send('POST', `/api/permits/${id}/release`, { semaphore: 'job' })).json).toEqual({
      released: false,
    });
    const next = await take(other);
    expect(next.json.token).toBeGreaterThan(token);
  });

  it('go to one of many who ask at once, by whichever node', async () => {
    const store = memory();
    const consoles = [await boot({ store }), await boot({ store })];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => take(consoles[index % 2]!)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(19).fill(409)]);
  });

  it('are the same again for a holder that asks again', async () => {
    const console = await boot();
    const [first, again] = [await take(console, { holder: 'script' }), await take(console, { holder: 'script' })];
    expect(again.json).toMatchObject({ id: first.json.id, token: first.json.token });
    expectProblem(await take(console, { holder: 'other' }), 409, 'denied');
  });

  it('never come back once they are over', async () => {
    const console = await boot();
    const { json } = await take(console);
    const { id, token } = json;
    const refresh = (body: object) => console.send('POST', `/api/permits/${id}/refresh`, { semaphore: 'job', ...body });
    expectProblem(await refresh({ token: token + 1 }), 409, 'permit-lost');
    await console.gatekeeper.definitions.revoke('job', id);
    expectProblem(await refresh({ token }), 409, 'permit-lost');
    expect((await take(console)).json.id).not.toBe(id);
  });

  it('end by themselves, and are not refreshed after that', async () => {
    const console = await boot();
    const { json } = await take(console, { duration: 1000, holder: 'script' });
    expect(json.remaining).toBeLessThanOrEqual(990);
    await until(() => Date.now() > json.expiresAt);
    const body = { semaphore: 'job', token: json.token };
    expectProblem(await console.send('POST', `/api/permits/${json.id}/refresh`, body), 409, 'permit-lost');
    const next = await take(console, { wait: 5000 });
    expect(next.status).toBe(201);
  });

  it('of one token are no other token to refresh or release', async () => {
    const console = await boot();
    const { json } = await take(console);
    const as = { token: TOKENS.operate };
    const body = { semaphore: 'job', token: json.token };
    expectProblem(await console.send('POST', `/api/permits/${json.id}/refresh`, body, as), 409, 'permit-lost');
    const released = await console.send('POST', `/api/permits/${json.id}/release`, { semaphore: 'job' }, as);
    expect(released.json).toEqual({ released: false });
  });

  it('are waited for until one is free, by whichever node', async () => {
    const store = memory();
    const [one, other] = [await boot({ store }), await boot({ store })];
    const held = (await one.gatekeeper.tryAcquire('job'))!;
    const waiting = [take(one, { wait: 60_000, holder: 'a' }), take(other, { wait: 60_000, holder: 'b' })];
    await until(
      () => partsOf(one.gatekeeper).external.waiting === 1 && partsOf(other.gatekeeper).external.waiting === 1,
    );
    await held.release();
    const first = await Promise.race(waiting);
    expect(first.status).toBe(201);
    await one.send('POST', `/api/permits/${first.json.id}/release`, { semaphore: 'job' });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 201]);
  });

  it('are waited for no longer than was asked for', async () => {
    const console = await boot();
    await console.gatekeeper.tryAcquire('job');
    const began = performance.now();
    expectProblem(await take(console, { wait: 300 }), 409, 'denied');
    expect(performance.now() - began).toBeGreaterThan(299);
    expect(partsOf(console.gatekeeper).external.waiting).toBe(0);
  });

  it('are no longer waited for by a client that went away', async () => {
    const console = await boot();
    const held = (await console.gatekeeper.tryAcquire('job'))!;
    const quit = willHangUp(console, {
      method: 'POST',
      path: '/api/permits',
      body: { semaphore: 'job', wait: 60_000 },
    });
    await until(() => partsOf(console.gatekeeper).external.waiting === 1);
    expect(await quit()).toBe('gone');
    await until(() => partsOf(console.gatekeeper).external.waiting === 0);
    await held.release();
    expect((await console.gatekeeper.state()).semaphores[0]!.holders).toEqual([]);
  });

  it('are refused by a node that shuts down, also to those that wait', async () => {
    const console = await boot();
    await console.gatekeeper.tryAcquire('job');
    const waiting = take(console, { wait: 60_000 });
    await until(() => partsOf(console.gatekeeper).external.waiting === 1);
    const closing = console.app.close();
    expectProblem(await waiting, 503, 'closing');
    await closing;
  });

  it('are denied, and not called lost, while lost data recover', async () => {
    const store = memory();
    const { cluster } = store.open() as MemoryDriver;
    const [one, other] = [await boot({ store }), await boot({ store })];
    const { json } = await take(one, { holder: 'script' });
    // The node that knew of the permit is gone, too.
    await one.app.close();
    cluster.records.texts.clear();
    const body = { semaphore: 'job', token: json.token };
    for (const refused of [
      await other.send('POST', `/api/permits/${json.id}/refresh`, body),
      await take(other, { holder: 'script' }),
    ]) {
      expectProblem(refused, 409, 'denied');
      expect(refused.json.reason).toBe('recovering');
    }
  });

  it('are for defined semaphores and durations that can be used', async () => {
    const console = await boot();
    expectProblem(await take(console, { semaphore: 'typo', duration: '1m' }), 404, 'unknown-semaphore');
    expectProblem(await take(console, { duration: 20 }), 400, 'invalid-options');
    expectProblem(await take(console, { wait: 60_001 }), 400, 'invalid-options');
  });

  it('keep to the patterns, and to a pause; who has one may go on', async () => {
    const console = await boot({ gatekeeper: { definitions: [{ ...JOB, acquirerPattern: 'batch.*', permits: 2 }] } });
    const refused = await take(console);
    expectProblem(refused, 409, 'denied');
    expect(refused.json.reason).toBe('acquirer');
    const { json } = await take(console, { acquirer: 'batch-7' });
    await console.send('POST', '/api/semaphores/job/pause');
    expect((await take(console, { acquirer: 'batch-8' })).json.reason).toBe('paused');
    const body = { semaphore: 'job', token: json.token };
    expect((await console.send('POST', `/api/permits/${json.id}/refresh`, body)).status).toBe(200);
  });
});
