import { z } from 'zod';
import { PROBLEMS, type ProblemCode, type Route, USUAL_PROBLEMS, WRITE_PROBLEMS, problemSchema } from '../api/index.js';

type Json = Record<string, unknown>;

/** Describes routes as OpenAPI 3.1 does, from the very schemas that check what comes in. */
export function openApiOf(routes: readonly Route[]): Json & { openapi: string } {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = `/${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatekeeper',
      version: '1',
      description: 'Permits of named semaphores: who may run what. Times are ms since the epoch, durations are ms.',
    },
    // From where this document is found: it does not know what a proxy puts before its path.
    servers: [{ url: '..' }],
    paths,
    components: {
      schemas: { Problem: schemaOf(problemSchema) },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operation(route: Route): Json {
  const { role, body } = route;
  return {
    summary: route.summary,
    ...(role && { description: `Takes the role ${role}.`, 'x-role': role }),
    security: role ? [{ token: [] }] : [],
    parameters: [
      ...parameters('path', route.params),
      ...parameters('query', route.query),
      ...(route.isConditional ? [IF_NONE_MATCH] : []),
    ],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: {
      [route.status ?? 200]: success(route),
      ...(route.isConditional && { 304: { description: 'As it was, but for times that run on.' } }),
      ...refusals(problemsOf(route)),
    },
  };
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier answer.',
  schema: { type: 'string' },
};

function success({ answer, mediaType = 'application/json' }: Route): Json {
  return { description: 'Done.', content: { [mediaType]: { schema: schemaOf(answer) } } };
}

/** All that a route can be refused for. */
export function problemsOf({ role, method, problems = [] }: Route): ProblemCode[] {
  if (!role) return [...problems];
  return [...USUAL_PROBLEMS, ...(method === 'GET' ? [] : WRITE_PROBLEMS), ...problems];
}

function refusals(codes: readonly ProblemCode[]): Json {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) byStatus.set(PROBLEMS[code][0], [...(byStatus.get(PROBLEMS[code][0]) ?? []), code]);
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [status, { description: `Refused: ${of.join(', ')}.`, content }]),
  );
}

function parameters(place: 'path' | 'query', schema: z.ZodType | undefined): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema) as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: each,
  }));
}

function schemaOf(schema: z.ZodType): Json {
  const described: Json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  delete described['$schema'];
  return described;
}
