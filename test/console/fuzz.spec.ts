import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { z } from 'zod';
import { ROUTES, type Route, problemSchema } from '../../lib/console/api/index.js';
import { problemsOf } from '../../lib/console/openapi/document.js';
import { until } from '../support/apps.js';
import { PLATFORMS, type Console, useConsoles } from './consoles.js';
import { names, schemaOf, valuesOf } from './schema-values.js';
import { runs } from '../support/runs.js';

/** Requests of each call. */
const RUNS = runs(20);

/** @param entry id of an entry of the audit log */
function requestsOf(route: Route, entry: string) {
  const query = route.query?.shape ?? {};
  return fc.record({
    param: fc.oneof(names, fc.string()),
    query: fc.dictionary(
      fc.constantFrom(...Object.keys(query), 'unknown'),
      fc.oneof(fc.constantFrom('true', '10', 'job'), fc.string()),
    ),
    body: route.body ? bodiesOf(route.body, entry) : fc.constant(undefined),
    headers: fc.dictionary(
      fc.constantFrom('x-a', 'accept', 'origin', 'sec-fetch-site'),
      fc.constantFrom('*/*', 'null', 'http://x', 'cross-site'),
      { maxKeys: 1 },
    ),
  });
}

/** Half of the bodies that name an entry name a real one, and nothing else that could be refused. */
function bodiesOf(type: z.ZodType, entry: string) {
  return fc
    .tuple(valuesOf(schemaOf(type)), fc.boolean())
    .map(([body, isReal]) =>
      isReal && typeof body === 'object' && body !== null && 'entry' in body ? { entry } : body,
    );
}

/** Semaphores with a grant, a permit and a change. @returns the id of the change's entry in the audit log */
async function makeScene({ gatekeeper }: Console): Promise<string> {
  const ended = await gatekeeper.tryAcquire('job');
  await ended!.release();
  await gatekeeper.tryAcquire('job');
  await gatekeeper.tryAcquire('other', { duration: '10m' });
  await gatekeeper.definitions.edit('job', { permits: 2 });
  await until(async () => (await gatekeeper.audit.read(1)).length > 0);
  return (await gatekeeper.audit.read(1))[0]!.id!;
}

/** Another one finds other requests: `SEED=1 npx jest test/console/fuzz`. */
const SEED = Number(process.env.SEED ?? 20_261_121);

type TypeOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

async function sendTo(
  console: Console,
  route: Route,
  { param, query, body, headers }: TypeOf<ReturnType<typeof requestsOf>>,
) {
  const path = `/${route.path.replaceAll(/:\w+/g, () => encodeURIComponent(Buffer.from(param).toString()) || '%20')}?${new URLSearchParams(query)}`;
  if (route.method === 'GET') return console.get(path, { headers });
  const bounded =
    typeof body === 'object' && body !== null && 'wait' in body ? { ...body, wait: body.wait === 0 ? 0 : 1 } : body;
  return console.send(route.method, path, bounded, { headers });
}

/** @returns what is not as documented */
function faultOf(
  route: Route,
  param: string,
  { status, headers, json }: Awaited<ReturnType<typeof sendTo>>,
): string | undefined {
  const said = `${status} ${JSON.stringify(json)}`;
  if (status >= 500) return `a failure of the node: ${said}`;
  // Another route, or none, answers these: fetch treats "." and ".." as folders.
  if (param === '.' || param === '..') return undefined;
  if (status === (route.status ?? 200)) {
    return isDeepStrictEqual(route.answer.parse(json), json) ? undefined : `more than documented: ${said}`;
  }
  // Some paths never reach the console.
  if (!headers.get('content-type')?.startsWith('application/problem+json')) {
    return status === 404 ? undefined : `no problem: ${said}`;
  }
  const { success } = problemSchema.safeParse(json);
  const isDocumented = (problemsOf(route) as readonly string[]).includes(json.code);
  return success && isDocumented ? undefined : `an undocumented problem: ${said}`;
}

describe.each(PLATFORMS)('whatever is sent to the API on %s', (platform) => {
  const start = useConsoles();
  const routes = Object.values<Route>(ROUTES).filter(
    ({ mediaType, role }) => mediaType === undefined && role !== undefined,
  );

  it('is answered as documented, and never with a failure of the node', async () => {
    const console = await start({ platform, gatekeeper: { definitions: [{ name: 'job', duration: '10s' }] } });
    const entry = await makeScene(console);
    const seen = new Map<number, number>();
    for (const route of routes) {
      await fc.assert(
        fc.asyncProperty(requestsOf(route, entry), async (request) => {
          const answer = await sendTo(console, route, request);
          seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
          expect(faultOf(route, request.param, answer)).toBeUndefined();
        }),
        { numRuns: RUNS, seed: SEED },
      );
    }
    // All of it would be worth nothing if nothing got through.
    expect(seen.get(200)!).toBeGreaterThan(RUNS);
    expect(seen.get(400)!).toBeGreaterThan(RUNS);
  });
});
