import { Body, Controller, Post } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ROUTES, type Route } from '../../lib/console/api/index.js';
import { JsonScan } from '../../lib/console/http/json-scan.js';
import { expectProblem } from './api.contract.js';
import { MEDIA_TYPE } from '../../lib/stores/remote/protocol.js';
import { type Host, PLATFORMS, TOKENS, useConsoles } from './consoles.js';

@Controller('host')
class HostController {
  @Post()
  count(@Body() body: object): string {
    return String(Object.keys(body).length);
  }
}

const NO_TEXT = { toString: 1 };
const NESTED = '['.repeat(30_000) + ']'.repeat(30_000);
const routes = Object.values<Route>(ROUTES).filter(({ body }) => body !== undefined);
const pathOf = ({ path }: Route) => `/${path.replace(':name', 'job').replace(':id', 'none')}`;

describe.each(PLATFORMS)('hostile bodies on %s', (platform) => {
  const start = useConsoles();
  const gatekeeper = { definitions: [{ name: 'job', duration: '10s' }] };

  it.each([
    ['POST', '/api/semaphores', { name: 'new', duration: '5s', permits: NO_TEXT }],
    ['POST', '/api/semaphores', { name: NO_TEXT, duration: NO_TEXT, groupPattern: [NO_TEXT] }],
    ['PATCH', '/api/semaphores/job', { permits: NO_TEXT }],
    ['POST', '/api/migrations', { to: NO_TEXT, dryRun: [[NO_TEXT]] }],
    ['POST', '/api/permits', { semaphore: 'job', duration: NO_TEXT }],
  ])('with a value that has no text are refused: %s %s %j', async (method, path, body) => {
    const { send } = await start({ platform, gatekeeper });
    expectProblem(await send(method, path, body), 400, 'invalid-options');
  });

  it('with thousands of unknown fields are refused with some of them', async () => {
    const { send } = await start({ platform, gatekeeper });
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]));
    const answer = await send('POST', '/api/preview', body, { token: TOKENS.view });
    expectProblem(answer, 400, 'invalid-options');
    expect(answer.json.faults.at(-1)).toBe('and 4955 more faults');
    expect(answer.text.length).toBeLessThan(64 * 1024);
  });

  it('with a value that has no text are a fault of the preview', async () => {
    const { send } = await start({ platform, gatekeeper });
    const answer = await send('POST', '/api/preview', { permits: NO_TEXT });
    expect([answer.status, answer.json.code ?? answer.json.faults]).toMatchObject([400, 'invalid-options']);
  });

  it.each([
    ['read by the parser of the application', {}],
    ['read by the console', { bodyParser: false }],
  ])('that nest 30,000 arrays are refused: %s', async (_, application) => {
    const { url } = await start({ platform, gatekeeper, application });
    for (const route of routes) {
      for (const text of [NESTED, `{"reason":${NESTED}}`, `{"semaphore":${NESTED}}`]) {
        for (const body of [text, new Blob([text]).stream()]) {
          const headers = { authorization: `Bearer ${TOKENS.define}`, 'content-type': 'application/json' };
          const init = { method: route.method, headers, body, duplex: 'half' } as RequestInit;
          const answer = await fetch(url + pathOf(route), init);
          expect([route.path, answer.status]).toEqual([route.path, 400]);
        }
      }
    }
  });

  it.each([
    ['read by the parser of the application', {}],
    ['read by the console', { bodyParser: false }],
  ])('with more values than data of the usual size can have are refused: %s', async (_, application) => {
    const { post } = await start({ platform, gatekeeper, application });
    const submit = (count: number) =>
      post('/api/tasks', `{"id":"mail:many","data":[${Array(count).fill(0).join(',')}]}`);
    expect((await submit(32_700)).status).toBe(200);
    const answer = await submit(34_000);
    expectProblem(answer, 413, 'too-large');
    expect(answer.json.detail).toBe('the body has more than 33000 values');
    const nested = `[${Array(12_000).fill('[0]').join(',')}]`;
    expect((await post('/api/tasks', `{"id":"mail:nested","data":[${nested},{"a":${nested}}]}`)).status).toBe(413);
  });

  it.each([
    ['empty texts', '""'],
    ['texts of a quote', '"\\\\\\""'],
    ['empty lists', '[]'],
  ])('of the store with hundreds of thousands of values are refused before they are parsed: %s', async (_, value) => {
    const { url } = await start({ platform, gatekeeper });
    const count = Math.floor(1_900_000 / (value.length + 1));
    const body = `{"journal":"runs","texts":[${Array(count).fill(value).join(',')}]}`;
    const headers = { authorization: `Bearer ${TOKENS.node}`, 'content-type': MEDIA_TYPE };
    const answer = await fetch(`${url}/api/store/journal/append`, { method: 'POST', headers, body });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([413, 'too-large']);
  });

  it('of the store with a list of tens of thousands of faults are refused with one', async () => {
    const { url } = await start({ platform, gatekeeper });
    const body = `{"journal":"runs","texts":[${Array(30_000).fill(0).join(',')}]}`;
    const headers = { authorization: `Bearer ${TOKENS.node}`, 'content-type': MEDIA_TYPE };
    const answer = await fetch(`${url}/api/store/journal/append`, { method: 'POST', headers, body });
    expect([answer.status, (await answer.json()) as unknown]).toMatchObject([400, { faults: [expect.any(String)] }]);
  });

  describe('that are refused before any parser sees them', () => {
    const LARGE_BODIES: Host =
      platform === 'Fastify'
        ? { fastify: { bodyLimit: 2_000_000 } }
        : { prepare: (app) => (app as NestExpressApplication).useBodyParser('json', { limit: '2mb' }) };
    const boot = (host: Host = {}) => start({ platform, gatekeeper, ...LARGE_BODIES, ...host });
    afterEach(() => void jest.restoreAllMocks());

    const fields = (count: number) =>
      Array.from({ length: count }, (_, index) => `"${index.toString(36)}":1`).join(',');
    const nested = (count: number) => '['.repeat(count) + ']'.repeat(count);
    const TASKS = '/api/tasks';
    const SPELLING = platform === 'Express' ? '/API/Tasks' : '/api/%74asks';

    it.each<[string, string, string, number, string, Record<string, string>?]>([
      ['unknown fields of a task', TASKS, `{"id":"a:1",${fields(32_000)}}`, 413, 'too-large'],
      ['unknown fields of a result', `${TASKS}/a%3A1/complete`, `{"token":1,${fields(32_000)}}`, 413, 'too-large'],
      ['fields of data', TASKS, `{"id":"a:1","data":{${fields(32_000)}}}`, 413, 'too-large'],
      [
        'fields of many objects',
        TASKS,
        `{"id":"a:1","data":[${Array(12_000).fill('{"a":1}').join(',')}]}`,
        413,
        'too-large',
      ],
      ['lists in lists', TASKS, `{"id":"a:1","data":${nested(500_000)}}`, 400, 'bad-request'],
      ['objects in objects', TASKS, `{"id":"a:1","data":${'{"a":'.repeat(100_000)}1`, 400, 'bad-request'],
      ['values', TASKS, `{"id":"a:1","data":[${Array(400_000).fill(0).join(',')}]}`, 413, 'too-large'],
      ['empty lists', TASKS, `{"id":"a:1","data":[${Array(300_000).fill('[]').join(',')}]}`, 413, 'too-large'],
      ['bytes', '/api/permits', `{"semaphore":"${'x'.repeat(200_000)}"}`, 413, 'too-large'],
      ['blanks', '/api/permits', `{"semaphore":"job"${' '.repeat(200_000)}}`, 413, 'too-large'],
      ['fields, by another spelling of the path', SPELLING, `{${fields(32_000)}}`, 413, 'too-large'],
      ['compressed bytes', TASKS, `{"id":"a:1"}`, 415, 'not-json', { 'content-encoding': 'gzip' }],
      ['UTF-16', TASKS, `{"id":"a:1"}`, 415, 'not-json', { 'content-type': 'application/json; charset=utf-16le' }],
      [
        'fields of the store',
        '/api/store/compare-and-set',
        `{${fields(32_000)}}`,
        413,
        'too-large',
        { 'content-type': MEDIA_TYPE },
      ],
      [
        'lists of the store',
        '/api/store/read',
        `{"key":${nested(2_400_000)}}`,
        400,
        'bad-request',
        { 'content-type': MEDIA_TYPE },
      ],
    ])('%s', async (_, path, body, status, code, headers = {}) => {
      const { url } = await boot();
      const parse = jest.spyOn(JSON, 'parse');
      for (const sent of [body, new Blob([body]).stream()]) {
        const answer = await fetch(url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKENS.node}`, 'content-type': 'application/json', ...headers },
          body: sent,
          duplex: 'half',
        } as RequestInit);
        expect([answer.status, (await answer.json()) as unknown]).toMatchObject([status, { code }]);
      }
      // The parser of the application may get the begin of a body, which is within the bounds.
      for (const [text] of parse.mock.calls) expect(new JsonScan().add(Buffer.from(text))).toBeUndefined();
      expect(Math.max(0, ...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(70_000);
    });

    it("of the application itself are none of the console's business", async () => {
      const { url } = await boot({ metadata: { controllers: [HostController] } });
      for (const body of [`{${fields(20_000)}}`, nested(40)]) {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`${new URL(url).origin}/host`, { method: 'POST', headers, body });
        expect([answer.status, await answer.text()]).toEqual([201, String(Object.keys(JSON.parse(body)).length)]);
      }
    });
  });
});
