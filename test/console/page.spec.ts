import { PageFiles } from '../../lib/console/page/page-files.js';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, useConsoles } from './consoles.js';

describe.each(PLATFORMS)('the page of the console on %s', (platform) => {
  const start = useConsoles();
  const files = new PageFiles(() => ({
    page: { type: 'text/html; charset=utf-8', text: '<!doctype html><title>Gatekeeper</title>' },
    assets: { 'console-ABC.js': { type: 'text/javascript; charset=utf-8', text: 'export {};' } },
  }));

  const boot = (options: object = {}) => start({ platform, overrides: [[PageFiles, files]], ...options });

  it('is given to everybody, under a strict policy', async () => {
    const { get } = await boot();
    const { status, headers, text } = await get('/', { token: null });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<title>Gatekeeper</title>');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('noopener-allow-popups');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it('brings its assets along, to be kept for ever', async () => {
    const { get } = await boot();
    const { status, headers, text } = await get('/assets/console-ABC.js', { token: null });
    expect([status, text]).toEqual([200, 'export {};']);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it.each([
    ['no path', undefined, undefined, 'gatekeeper/'],
    ['a longer path', 'internal/jobs', undefined, 'jobs/'],
    ["the application's prefix", undefined, 'v1/app', 'gatekeeper/'],
  ])('is found without the slash at the end, too, below %s', async (_, path, prefix, location) => {
    const { url } = await boot({ prefix, ...(path && { console: { path, insecure: true } }) });
    const answer = await fetch(url, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, location]);
    expect((await fetch(url)).status).toBe(200);
  });

  it.each([
    '/package.json',
    '/assets/package.json',
    '/assets/..%2fpackage.json',
    '/assets/toString',
    '/assets/',
    '/api/nothing',
    '/manifest.json',
  ])('gives nothing else: %s', async (path) => {
    const { get } = await boot();
    const answer = await get(path, { token: null });
    expect(answer.status).toBe(404);
  });

  it('that was not built is not there, and says so', async () => {
    const { get } = await start({ platform, overrides: [[PageFiles, new PageFiles(() => undefined)]] });
    const answer = await get('/');
    expectProblem(answer, 404, 'not-found');
    expect(answer.json.detail).toContain('not built');
  });
});
