import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { ROUTES, type Route, problemSchema } from '../../lib/console/api/index.js';
import { problemsOf } from '../../lib/console/openapi/document.js';
import { PLATFORMS, type Console, useConsoles } from './consoles.js';

/** Requests of each call. */
const RUNS = 60;

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  items?: Schema;
};

const names = fc.constantFrom('job', 'other', 'a/b', 'x'.repeat(201), '', 'ü "<>', '..%2f');
const outside: fc.Arbitrary<unknown> = fc.oneof(fc.jsonValue(), fc.string(), fc.integer(), fc.constant('__proto__'));

/** What a JSON schema allows, now and then something that it does not. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: inside(schema), weight: 9 }, { arbitrary: outside, weight: 1 });
}

function inside(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(inside));
  switch (schema.type) {
    case 'object': {
      const entries = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, valuesOf(each)] as const);
      const record = fc.record(Object.fromEntries(entries), { requiredKeys: schema.required ?? [] });
      return fc.oneof(
        { arbitrary: record, weight: 9 },
        { arbitrary: fc.dictionary(fc.string(), fc.jsonValue()), weight: 1 },
      );
    }
    case 'array':
      return fc.array(inside(schema.items ?? {}));
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 5000, 5000) }),
        fc.double(),
      );
    case 'string':
      return fc.oneof(names, fc.string(), fc.constantFrom('.*', 'app[12]', '(', '5s', 'default', '1'));
    default:
      return outside;
  }
}

const schemaOf = (schema: z.ZodType | undefined) =>
  schema ? (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema) : undefined;

function requestsOf(route: Route) {
  const query = schemaOf(route.query)?.properties ?? {};
  const body = schemaOf(route.body);
  return fc.record({
    param: fc.oneof(names, fc.string()),
    query: fc.dictionary(
      fc.constantFrom(...Object.keys(query), 'unknown'),
      fc.oneof(fc.constantFrom('true', '10', 'job'), fc.string()),
    ),
    body: body ? valuesOf(body) : fc.constant(undefined),
    headers: fc.dictionary(
      fc.constantFrom('x-a', 'accept', 'origin', 'sec-fetch-site'),
      fc.constantFrom('*/*', 'null', 'http://x', 'cross-site'),
      { maxKeys: 1 },
    ),
  });
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
function faultOf(route: Route, { status, headers, json }: Awaited<ReturnType<typeof sendTo>>): string | undefined {
  const said = `${status} ${JSON.stringify(json)}`;
  if (status === (route.status ?? 200)) {
    return isDeepStrictEqual(route.answer.parse(json), json) ? undefined : `more than documented: ${said}`;
  }
  if (status >= 500) return `a failure of the node: ${said}`;
  // What is no call of the API at all never gets to the console: fetch takes "." and ".." for folders.
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
    const seen = new Map<number, number>();
    for (const route of routes) {
      await fc.assert(
        fc.asyncProperty(requestsOf(route), async (request) => {
          const answer = await sendTo(console, route, request);
          seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
          expect(faultOf(route, answer)).toBeUndefined();
        }),
        { numRuns: RUNS, seed: SEED },
      );
    }
    // All of it would be worth nothing if nothing got through.
    expect(seen.get(200)!).toBeGreaterThan(RUNS);
    expect(seen.get(400)!).toBeGreaterThan(RUNS);
  }, 300_000);
});
