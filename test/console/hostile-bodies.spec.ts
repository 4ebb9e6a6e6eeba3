import { ROUTES, type Route } from '../../lib/console/api/index.js';
import { expectProblem } from './api.contract.js';
import { MEDIA_TYPE } from '../../lib/stores/remote/protocol.js';
import { PLATFORMS, TOKENS, useConsoles } from './consoles.js';

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
});
