import loadConsolePage from '../../load-console-page.cjs';
import { PageFiles } from '../../lib/console/page/page-files.js';
import { type Host, PLATFORMS, SETTINGS, useConsoles } from './consoles.js';

/** A page of two files, whether the real one was built or not. */
const FILES = new PageFiles(
  () =>
    ({
      page: { type: 'text/html', text: '<!doctype html>' },
      assets: { 'console-1.js': { type: 'text/javascript', text: 'let it = "be";' } },
    }) as unknown as ReturnType<typeof loadConsolePage>,
);

describe.each(PLATFORMS)('what needs no token, on %s', (platform) => {
  const start = useConsoles();
  const boot = (host: Host = {}) => start({ platform, overrides: [[PageFiles, FILES]], ...host });

  it.each(['/api/openapi.json', '/', '/assets/console-1.js'])(
    'is sent once to a client that keeps it: %s',
    async (path) => {
      const { get } = await boot();
      const first = await get(path, { token: null });
      const tag = first.headers.get('etag')!;
      expect([first.status, tag]).toEqual([200, expect.stringMatching(/^"[\w-]{22}"$/)]);
      expect(first.headers.get('content-length')).toBe(String(Buffer.byteLength(first.text)));
      expect(first.headers.get('cache-control')).toMatch(/no-cache|immutable/);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
        const again = await get(path, { token: null, headers: { 'if-none-match': known } });
        expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
      }
      expect((await get(path, { token: null, headers: { 'if-none-match': '"other"' } })).text).toBe(first.text);
    },
  );

  it('has one tag for each path below which a proxy shows the document', async () => {
    const { get } = await boot({ console: { ...SETTINGS, trustProxy: true } });
    const documentAt = (prefix: string) => get('/api/openapi.json', { headers: { 'x-forwarded-prefix': prefix } });
    const [one, other] = [await documentAt('/one'), await documentAt('/other')];
    expect([one.json.servers, other.json.servers]).toEqual([
      [{ url: '/one/gatekeeper' }],
      [{ url: '/other/gatekeeper' }],
    ]);
    expect(one.headers.get('etag')).not.toBe(other.headers.get('etag'));
    expect(one.json.paths).toEqual(other.json.paths);
  });

  it('is made once, however often it is asked for', async () => {
    const { get } = await boot();
    const length = (await get('/api/openapi.json')).text.length;
    const written = jest.spyOn(JSON, 'stringify');
    for (let count = 0; count < 3; count++) await get('/api/openapi.json');
    const longest = Math.max(0, ...written.mock.results.map(({ value }) => String(value).length));
    jest.restoreAllMocks();
    expect(longest).toBeLessThan(length / 10);
  });
});
