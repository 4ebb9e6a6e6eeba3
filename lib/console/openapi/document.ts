import { z } from 'zod';
import {
  type DocumentedRoute,
  PROBLEMS,
  type ProblemCode,
  type Route,
  USUAL_PROBLEMS,
  WRITE_PROBLEMS,
  problemSchema,
} from '../api/index.js';
import { shortestDuration } from '../../core/decision/index.js';
import { duration } from '../api/fields.js';

/** The node that serves the document. */
interface Place {
  /** The absolute path at which the console is mounted: "/gatekeeper". */
  readonly mount: string;
  /** ms; the shortest possible duration depends on it. */
  readonly clockTolerance: number;
}

/** Describes routes as OpenAPI 3.1, from the same schemas that check the input. */
export function openApiOf(
  routes: readonly DocumentedRoute[],
  { mount, clockTolerance }: Place,
): Json & { openapi: string } {
  const schemas = new Schemas();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = `/${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatekeeper',
      version: '1',
      description:
        'Permits of named semaphores, for operators and programs. Times are ms since the epoch, durations are ms.',
    },
    servers: [{ url: mount }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: sorted({ ...schemas.components, Duration: durationFrom(schemas, clockTolerance) }),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const TAGS = {
  Permits: 'Permits for programs that are not nodes.',
  Leadership: 'Leaders of scopes, and the nodes that take part.',
  Tasks: 'Tasks, for workers that are not nodes and for operators.',
  Allocation: 'Resources that are divided over the nodes.',
  Cluster: 'Data and changes for operators.',
};

function tagOf({ path }: DocumentedRoute): keyof typeof TAGS {
  if (path.startsWith('api/permits')) return 'Permits';
  if (path.startsWith('api/task') || path.startsWith('api/schedules')) return 'Tasks';
  if (path.startsWith('api/allocation')) return 'Allocation';
  return path.startsWith('api/leaders') ? 'Leadership' : 'Cluster';
}

function operation(route: DocumentedRoute, schemas: Schemas): Json {
  const { role, body, operationId } = route;
  return {
    operationId,
    tags: [tagOf(route)],
    summary: route.summary,
    ...descriptionOf(route),
    ...(role && { 'x-role': role }),
    security: role ? [{ token: [] }] : [],
    parameters: [
      ...parameters('path', route.params, schemas),
      ...parameters('query', route.query, schemas),
      ...(route.isConditional ? [IF_NONE_MATCH] : []),
    ],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: schemas.of(body) } } } }),
    responses: {
      [route.status ?? 200]: success(route, schemas),
      ...(route.isConditional && { 304: { description: 'Unchanged, except for running times.' } }),
      ...withOther(route, refusals(problemsOf(route), schemas), schemas),
    },
  };
}

function descriptionOf({ description, role }: Route): { description?: string } {
  const sentences = [
    ...(description === undefined ? [] : [withAddresses(description)]),
    ...(role ? [`Needs the role ${role}.`] : []),
  ];
  return sentences.length > 0 ? { description: sentences.join(' ') } : {};
}

/** Pages of docs, by their addresses in place of the paths that code names: "docs/tasks.md#submit". */
function withAddresses(description: string): string {
  return description.replaceAll(/\bdocs\/[\w-]+\.md/g, (page) => REPOSITORY + page);
}

const REPOSITORY = 'https://github.com/nestjs-gatekeeper/nestjs-gatekeeper/blob/main/';

/** Adds the answer to a status that a refusal also has. Clients tell the two apart by the media type. */
function withOther({ otherStatus, answer }: Route, refusals: Record<string, Refusal>, schemas: Schemas): Json {
  if (!otherStatus) return refusals;
  const [status, description] = otherStatus;
  const refusal = refusals[status];
  const content = { 'application/json': { schema: schemas.of(answer) }, ...refusal?.content };
  return { ...refusals, [status]: { description: `${description} ${refusal?.description ?? ''}`.trim(), content } };
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier answer.',
  schema: { type: 'string' },
};

function success({ answer, mediaType = 'application/json', otherMediaType }: Route, schemas: Schemas): Json {
  const other = otherMediaType && { [otherMediaType]: { schema: { type: 'string' } } };
  return { description: 'Done.', content: { [mediaType]: { schema: schemas.of(answer) }, ...other } };
}

/** All problems with which a route may answer. */
export function problemsOf({ role, method, isHeavy, problems = [] }: Route): ProblemCode[] {
  if (!role) return [...problems];
  const ofWrites = method === 'GET' ? [] : WRITE_PROBLEMS;
  return [...USUAL_PROBLEMS, ...ofWrites, ...(isHeavy ? (['too-many-waits'] as const) : []), ...problems];
}

interface Refusal {
  readonly description: string;
  readonly content: Json;
}

function refusals(codes: readonly ProblemCode[], schemas: Schemas): Record<string, Refusal> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) byStatus.set(PROBLEMS[code][0], [...(byStatus.get(PROBLEMS[code][0]) ?? []), code]);
  const content = { 'application/problem+json': { schema: schemas.of(problemSchema) } };
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [status, { description: `Refused: ${of.join(', ')}.`, content }]),
  );
}

function parameters(place: 'path' | 'query', object: z.ZodObject | undefined, schemas: Schemas): Json[] {
  return Object.entries(object?.shape ?? {}).map(([name, each]) => {
    const { description, ...schema } = schemas.of(each as z.ZodType);
    const required = place === 'path';
    return { name, in: place, required, ...(description !== undefined && { description }), schema };
  });
}

/** The schema of durations with the minimum of this node. It is the only limit that differs between nodes. */
function durationFrom(schemas: Schemas, clockTolerance: number): Json {
  const minimum = shortestDuration(clockTolerance);
  schemas.of(duration);
  const { anyOf, description } = schemas.components['Duration'] as { anyOf: Json[]; description: string };
  return {
    anyOf: anyOf.map((each) => (each['type'] === 'integer' ? { ...each, minimum } : each)),
    description: `${description}; ${minimum} ms or more on this node, whose clockTolerance is ${clockTolerance} ms`,
  };
}

function sorted(components: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

type Json = Record<string, unknown>;

/**
 * The schemas of one document. A schema with an `id` in its `meta` becomes a component of that name. Every use refers
 * to the component, so that a generated client has one type for it.
 */
export class Schemas {
  readonly components: Record<string, Json> = {};

  /** @returns the JSON schema, or the reference to its component */
  of(schema: z.ZodType): Json {
    // Wrapped, because zod always writes a root schema in full, even if it has an id.
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => fitForClients(jsonSchema as Json),
    });
    for (const [name, each] of Object.entries($defs)) this.components[name] ??= amongComponents(each);
    return amongComponents(properties!['it']);
  }
}

/** Formats by type. Generators use 32 bits for a number without a format, but a fencing token needs 64. */
const FORMATS: Record<string, string> = { integer: 'int64', number: 'double' };

function fitForClients(schema: Json): void {
  const format = FORMATS[String(schema['type'])];
  if (format) schema['format'] ??= format;
  // openapi-generator's Java client would send such bodies empty. The server refuses unknown fields anyway.
  if (schema['additionalProperties'] === false) delete schema['additionalProperties'];
  // For `anyOf` with a discriminator, the TypeScript client would have one type with the fields of all.
  if ('discriminator' in schema) {
    schema['oneOf'] = schema['anyOf'];
    delete schema['anyOf'];
  }
  if (!('const' in schema)) return;
  schema['enum'] = [schema['const']];
  delete schema['const'];
}

function amongComponents(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
