import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Allowance } from '../../lib/console/access/allowance.js';
import { ChangeRate } from '../../lib/console/access/change-rate.js';
import { ROUTES } from '../../lib/console/api/index.js';
import { AnswerInPieces } from '../../lib/console/http/answer-in-pieces.js';
import { UnreadAnswers } from '../../lib/console/http/unread-answers.js';
import { until } from '../support/apps.js';
import { TooManyNamesError } from 'nestjs-gatekeeper';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, SETTINGS, TOKENS, useConsoles, willHangUp } from './consoles.js';
import { stopAllowances } from './stopped-allowances.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

const JOB = { name: 'job', duration: '10s' };
const WRONG = 'a-token-that-was-not-issued-';

describe('an allowance', () => {
  it('lets so many through at once, and then as many as time gives', () => {
    let now = 0;
    const allowance = new Allowance({ atOnce: 3, perSecond: 2 }, () => now);
    expect([1, 2, 3, 4].map(() => allowance.take('a'))).toEqual([0, 0, 0, 500]);
    now = 500;
    expect([allowance.take('a'), allowance.take('a'), allowance.take('b')]).toEqual([0, 500, 0]);
    now = 60_000;
    expect([1, 2, 3, 4].map(() => allowance.take('a'))).toEqual([0, 0, 0, 500]);
  });

  it('forgets who came longest ago, and no one else, once there are too many', () => {
    const allowance = new Allowance({ atOnce: 1, perSecond: 0.001 }, () => 0);
    allowance.take('first');
    allowance.take('second');
    for (let other = 0; other < 998; other++) allowance.take(String(other));
    expect(allowance.take('second')).toBeGreaterThan(0);
    allowance.take('one more');
    expect([allowance.take('second') > 0, allowance.take('first')]).toEqual([true, 0]);
  });
});

describe.each(PLATFORMS)('limits of the console on %s', (platform) => {
  const start = useConsoles();
  const boot = () => start({ platform, gatekeeper: { definitions: [JOB] } });
  afterEach(() => void jest.restoreAllMocks());

  it('meet wrong tokens of one address, a line of the log tells of them, and a right token is let in all the same', async () => {
    const { get, log } = await boot();
    stopAllowances();
    for (let attempt = 0; attempt < 20; attempt++) {
      expectProblem(await get('/api/session', { token: WRONG }), 401, 'no-token');
    }
    const refused = await get('/api/session', { token: WRONG });
    expectProblem(refused, 429, 'too-many-attempts');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await get('/api/session')).status).toBe(200);
    expectProblem(await get('/api/session', { token: null }), 401, 'no-token');
    const lines = log.filter((line) => line.includes('wrong token'));
    expect(lines).toEqual([expect.stringMatching(/^warn .*refused a wrong token from "(::ffff:)?127\.0\.0\.1"/)]);
    expect(log.join('\n')).not.toContain(WRONG);
  });

  it('meet wrong tokens of one IPv6 network, which has more addresses than any limit could count', async () => {
    const { get, log } = await start({ platform, console: { ...SETTINGS, trustProxy: true } });
    const attempt = (address: string) => get('/api/session', { token: WRONG, headers: { 'x-forwarded-for': address } });
    stopAllowances();
    for (let count = 0; count < 20; count++) {
      expectProblem(await attempt(`2001:db8:0:7::${count.toString(16)}`), 401, 'no-token');
    }
    expectProblem(await attempt('2001:DB8::7:ffff:0:0:1'), 429, 'too-many-attempts');
    expectProblem(await attempt('2001:db8:0:8::1'), 401, 'no-token');
    expectProblem(await attempt('::ffff:192.0.2.1'), 401, 'no-token');
    const lines = log.filter((line) => line.includes('wrong token'));
    expect(lines.map((line) => /from ("[^"]*")/.exec(line)![1])).toEqual([
      '"2001:db8:0:7::/64"',
      '"2001:db8:0:8::/64"',
      '"::ffff:192.0.2.1"',
    ]);
  });

  it('meet changes of one token, and those of no other', async () => {
    const { send, app } = await boot();
    const resume = (token: string) => send('POST', '/api/semaphores/job/resume', {}, { token });
    const goOn = stopAllowances();
    // As calls over HTTP, which would take long.
    const otto = { user: 'otto', role: 'operate' } as const;
    for (let count = 0; count < 990; count++) app.get(ChangeRate).note(otto, ROUTES.resume);
    for (let count = 0; count < 10; count++) expect((await resume(TOKENS.operate)).status).toBe(200);
    const refused = await resume(TOKENS.operate);
    expectProblem(refused, 429, 'too-many-changes');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await resume(TOKENS.define)).status).toBe(200);
    goOn();
    const taken = await send('POST', '/api/permits', { semaphore: 'job' }, { token: TOKENS.operate });
    expect(taken.status).toBe(201);
  });

  it('meet names on demand that are too many, with the time of another try', async () => {
    const { send, gatekeeper } = await boot();
    const { external } = partsOf(gatekeeper);
    external.take = () => Promise.reject(new TooManyNamesError('order-1'));
    const refused = await send('POST', '/api/permits', { semaphore: 'order-1', duration: '1m' });
    expectProblem(refused, 429, 'too-many-names');
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  it('meet requests of one token that wait, and those of no other', async () => {
    const { send, gatekeeper } = await boot();
    const held = (await gatekeeper.tryAcquire('job'))!;
    const take = (holder: string, token: string, wait = 30_000) =>
      send('POST', '/api/permits', { semaphore: 'job', holder, wait }, { token });
    const waiting = Array.from({ length: 100 }, (_, index) => take(`h${index}`, TOKENS.operate));
    await until(() => partsOf(gatekeeper).external.waiting === 100);
    expectProblem(await take('one-more', TOKENS.operate), 429, 'too-many-waits');
    expectProblem(await take('at-once', TOKENS.operate, 0), 409, 'denied');
    expectProblem(await take('other', TOKENS.define, 1), 409, 'denied');
    await gatekeeper.definitions.pause('job');
    await gatekeeper.drain();
    await held.release();
    for (const answer of await Promise.all(waiting)) expect([409, 503]).toContain(answer.status);
  });

  it('meet requests for large answers, of which only a few are made at the same time', async () => {
    const { get, app } = await boot();
    const { heavy } = app.get(AnswerInPieces);
    let made = 0;
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const make = async () => {
      made++;
      await finished;
    };
    const making = Array.from({ length: 103 }, () => heavy.during('vera', make));
    const last = get('/api/audit', { token: TOKENS.view });
    await until(async () => (await get('/api/jobs', { token: TOKENS.view })).status === 429);
    expectProblem(await get('/api/history', { token: TOKENS.view }), 429, 'too-many-waits');
    expect((await get('/api/health', { token: TOKENS.view })).status).toBe(200);
    expect(made).toBe(4);
    finish();
    await Promise.all(making);
    expect([made, (await last).status]).toEqual([103, 200]);
    expect((await get('/api/history', { token: TOKENS.view })).status).toBe(200);
  });

  it('leave no place to requests for large answers whose clients have gone', async () => {
    const console = await boot();
    const { heavy } = console.app.get(AnswerInPieces);
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const making = Array.from({ length: 4 }, () => heavy.during('otto', () => finished));
    const during = jest.spyOn(heavy, 'during');
    const ask = () => willHangUp(console, { path: '/api/history', token: TOKENS.view });
    const quitters = Array.from({ length: 100 }, ask);
    await until(async () => (await console.get('/api/history', { token: TOKENS.view })).status === 429);
    const ends = Promise.allSettled(during.mock.results.map(({ value }) => value as Promise<unknown>));
    await Promise.all(quitters.map((quit) => quit()));
    expect((await ends).map(({ status }) => status)).toEqual(Array<string>(101).fill('rejected'));
    finish();
    await Promise.all(making);
    expect((await console.get('/api/history', { token: TOKENS.view })).status).toBe(200);
  });

  it('meet large answers of one token that are not read, and those of no other', async () => {
    const { get, app } = await boot();
    const unread = app.get(UnreadAnswers);
    const unreadBy = (user: string) => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      unread.add(user, response);
      return () => response.emit('close');
    };
    for (let count = 0; count < 15; count++) unreadBy('vera');
    const close = unreadBy('vera');
    expectProblem(await get('/api/jobs', { token: TOKENS.view }), 429, 'too-many-waits');
    expect((await get('/api/jobs', { token: TOKENS.operate })).status).toBe(200);
    close();
    const added = jest.spyOn(unread, 'add');
    for (let count = 0; count < 3; count++) {
      await until(async () => (await get('/api/jobs', { token: TOKENS.view })).status === 200);
    }
    expect(added).toHaveBeenCalledWith('vera', expect.any(ServerResponse));
  });

  it('let the next request for a large answer in after one that failed', async () => {
    const { heavy } = new AnswerInPieces(new UnreadAnswers());
    const failing = Array.from({ length: 9 }, () => heavy.during('vera', () => Promise.reject(new Error('broken'))));
    const ends = await Promise.allSettled(failing);
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(await heavy.during('vera', async () => 'made')).toBe('made');
  });
});
