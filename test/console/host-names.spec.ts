import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';
import { rawRequest } from './raw-request.js';

const { pathname } = new URL('http://x/gatekeeper/api/session');

/** The status with which a console answers a request that has these lines in its head. */
async function statusOf({ url }: Console, lines: readonly string[], version = '1.1'): Promise<number> {
  return (await rawRequest(url, [`GET ${pathname} HTTP/${version}`, ...lines])).status;
}

describe.each(PLATFORMS)('the host that a request names, on %s', (platform) => {
  const start = useConsoles();
  const insecure = (options = {}) => start({ platform, console: { insecure: true, ...options } });

  it.each([
    'localhost',
    'localhost:3000',
    'LocalHost',
    'localhost.',
    'app.localhost:3000',
    '127.0.0.1:3000',
    '192.168.7.5',
    '[::1]:3000',
    '[fe80::1]',
    'dev.local:3000',
    'DEV.local',
    'dev.local.:3000',
  ])('is let in by an insecure console: %s', async (host) => {
    expect(await statusOf(await insecure({ allowedHosts: ['Dev.local'] }), [`Host: ${host}`])).toBe(200);
  });

  it.each([
    ['a name that may be any address', ['Host: evil.example']],
    ['a name with a port', ['Host: evil.example:3000']],
    ['a name that begins like an allowed one', ['Host: localhost.evil.example']],
    ['a name that ends like an allowed one', ['Host: evil-dev.local']],
    ['an address with more behind it', ['Host: 127.0.0.1.evil.example']],
    ['an address that is none', ['Host: [::1']],
    ['two ports', ['Host: localhost:1:2']],
    ['a user', ['Host: localhost@evil.example']],
    ['nothing', ['Host:']],
    ['two hosts', ['Host: localhost', 'Host: evil.example']],
    ['a list of hosts', ['Host: localhost, evil.example']],
    ['another host before a proxy', ['Host: evil.example', 'X-Forwarded-Host: localhost']],
  ])('is refused by an insecure console: %s', async (_, lines) => {
    const console = await insecure({ allowedHosts: ['dev.local'] });
    const { status, text } = await rawRequest(console.url, [`GET ${pathname} HTTP/1.1`, ...lines]);
    expect([400, 403]).toContain(status);
    expect(text).not.toContain(console.gatekeeper.node.instance);
  });

  it('is refused with a remedy', async () => {
    const { url } = await insecure();
    const { text } = await rawRequest(url, [`GET ${pathname} HTTP/1.1`, 'Host: evil.example']);
    expect(text).toContain('"code":"host-not-allowed"');
    expect(text).toContain('console.allowedHosts');
  });

  it('is needed by an insecure console, also of HTTP/1.0', async () => {
    const console = await insecure();
    expect(await statusOf(console, [], '1.0')).toBe(403);
    expect(await statusOf(console, ['Host: localhost'], '1.0')).toBe(200);
  });

  it('may be any where a token is asked for, unless the options list some', async () => {
    const authorization = `Authorization: Bearer ${TOKENS.view}`;
    expect(await statusOf(await start({ platform }), ['Host: evil.example', authorization])).toBe(200);
    const listed = await start({ platform, console: { ...SETTINGS, allowedHosts: ['ops.example'] } });
    expect(await statusOf(listed, ['Host: evil.example', authorization])).toBe(403);
    expect(await statusOf(listed, ['Host: ops.example', authorization])).toBe(200);
  });

  it('before a proxy is believed only where the options say so', async () => {
    const lines = ['Host: 10.0.0.7:3000', 'X-Forwarded-Host: console.example', 'Origin: https://console.example'];
    const authorization = `Authorization: Bearer ${TOKENS.view}`;
    expect(await statusOf(await start({ platform }), [...lines, authorization])).toBe(403);
    const behind = await start({ platform, console: { ...SETTINGS, trustProxy: true } });
    expect(await statusOf(behind, [...lines, authorization])).toBe(200);
    expect(await statusOf(await insecure(), lines)).toBe(403);
    expect(await statusOf(await insecure({ trustProxy: true }), lines)).toBe(403);
    const allowed = await insecure({ trustProxy: true, allowedHosts: ['console.example'] });
    expect(await statusOf(allowed, lines)).toBe(200);
    expect(await statusOf(allowed, ['Host: evil.example', ...lines.slice(1)])).toBe(403);
  });

  it.each([
    ['http://console.example:80', 'console.example', 200],
    ['http://console.example', 'CONSOLE.example:80', 200],
    ['https://console.example', 'console.example:443', 200],
    ['https://console.example', 'console.example.', 403],
    ['https://console.example', 'console.example:80', 403],
    ['http://console.example', 'console.example:443', 403],
    ['http://console.example:8080', 'console.example', 403],
    ['http://[::1]:3000', '[::1]:3000', 200],
    ['http://[::1]:3000', '[::1]:3001', 403],
    ['null', 'console.example', 403],
  ])('is one with the origin %s of a page, or not: %s', async (origin, host, status) => {
    const lines = [`Host: ${host}`, `Origin: ${origin}`, `Authorization: Bearer ${TOKENS.view}`];
    expect(await statusOf(await start({ platform }), lines)).toBe(status);
  });

  it('and that it is open to all draws a warning at the start', async () => {
    const { log } = await insecure();
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([expect.stringMatching(/insecure: true.*tokens/)]);
    expect((await start({ platform })).log.filter((line) => line.startsWith('warn'))).toEqual([]);
  });
});
