import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { z } from 'zod';
import { type DocumentedRoute, ROUTES } from '../../lib/console/api/index.js';
import { openApiOf } from '../../lib/console/openapi/document.js';
import { retryLaterBody, submitTaskBody } from '../../lib/console/api/task-fields.js';
import * as fields from '../../lib/console/api/fields.js';
import { compilePattern, faultsOf, storedText } from '../../lib/core/decision/index.js';
import { fairKeyOf } from '../../lib/tasks/submission-reader.js';
import { nameOfId } from '../../lib/tasks/index.js';
import { parseSubmitOptions } from '../../lib/tasks/rules/submit-options.js';
import { schemaOf, valuesOf } from './schema-values.js';
import { runs } from '../support/runs.js';

type Json = Record<string, any>;

const routes: readonly DocumentedRoute[] = Object.values(ROUTES);
const document = openApiOf(routes, { mount: '/gatekeeper', clockTolerance: 500 }) as Json;
const operations: Json[] = Object.values<Json>(document['paths']).flatMap((path) => Object.values<Json>(path));

/** Every schema of the document, with where it stands. */
function* schemasIn(value: unknown, path: string): Generator<[path: string, schema: Json]> {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && typeof value.type === 'string') yield [path, value];
  for (const [key, each] of Object.entries(value)) yield* schemasIn(each, `${path}/${key}`);
}
const schemas = [...schemasIn(document, '')];

describe('the OpenAPI document', () => {
  it('is one, by a validator of others', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  });

  it('names every operation, each by another name', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[a-z][A-Za-z]+$/)));
    expect(new Set(ids).size).toBe(routes.length);
  });

  it('gives every number the format that holds a fencing token', () => {
    const formats = { integer: 'int64', number: 'double' } as Record<string, string>;
    const numbers = schemas.filter(([, { type }]) => type in formats);
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers.filter(([, { type, format }]) => format !== formats[type])).toEqual([]);
  });

  it('names every object, so that clients have one type for each', () => {
    const objects = schemas.filter(([, { type }]) => type === 'object').map(([path]) => path);
    expect(objects.length).toBeGreaterThan(40);
    expect(objects.filter((path) => !/^\/components\/schemas\/[A-Z]\w+$/.test(path))).toEqual([]);
  });

  it('names nothing twice for Go, which has one space of names for types, their constructors and values', () => {
    const components = Object.entries<Json>(document['components']['schemas']);
    const names = components.flatMap(([name, { enum: values = [] }]) => [name, `New${name}`, ...values]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('names no field `hasX` beside a field `x`: Go gives every optional field a method `HasX`', () => {
    const fieldsOf = ([, { properties = {} }]: [string, Json]) => Object.keys(properties);
    const methods = (names: string[]) => names.map((name) => `has${name[0]?.toUpperCase()}${name.slice(1)}`);
    const clashes = schemas.map(fieldsOf).flatMap((names) => methods(names).filter((name) => names.includes(name)));
    expect(clashes).toEqual([]);
  });

  it('closes no body against unknown fields: clients in Java would send it empty', () => {
    expect(schemas.filter(([, { additionalProperties }]) => additionalProperties === false)).toEqual([]);
  });

  it('says where the console is mounted', () => {
    expect(document['servers']).toEqual([{ url: '/gatekeeper' }]);
  });

  it('names pages of docs by their addresses', () => {
    const paths = JSON.stringify(document).match(/\S*docs\/[\w-]+\.md/g) ?? [];
    expect(paths).not.toEqual([]);
    expect(paths.filter((path) => !path.includes('https://github.com/'))).toEqual([]);
  });

  it('has the description of a call that needs no role', () => {
    const of = { ...ROUTES.openapi, description: 'Read it once.' };
    const { paths } = openApiOf([of], { mount: '/gatekeeper', clockTolerance: 500 }) as Json;
    expect(paths['/api/openapi.json'].get.description).toBe('Read it once.');
  });
});

describe('what the document allows', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const checked = routes.flatMap(({ operationId, params, query, body }) =>
    Object.entries({ params, query, body }).flatMap(([place, type]) =>
      type ? [[`${operationId} ${place}`, type as z.ZodType] as const] : [],
    ),
  );

  it.each(checked)('the check takes: %s', (_, type) => {
    const schema = schemaOf(type);
    const isAllowed = ajv.compile(closed(schema));
    const seen = { allowed: 0 };
    fc.assert(
      fc.property(valuesOf(schema), (value) => {
        if (!isAllowed(value)) return;
        seen.allowed++;
        const { error } = type.safeParse(value);
        if (!error) return;
        // No schema can describe the syntax of a pattern.
        expect(faultsOf(error).filter((fault) => !fault.includes('RE2'))).toEqual([]);
      }),
      { numRuns: runs(1000), seed: 20_261_122 },
    );
    expect(seen.allowed).toBeGreaterThan(50);
  });
});

describe('the pattern of a time or a duration', () => {
  const { after } = retryLaterBody.shape;
  const types = {
    time: fields.timeText,
    duration: fields.duration,
    wait: fields.wait,
    atLeastFor: fields.atLeastFor,
    after,
  };

  it.each(Object.entries<z.ZodType>(types))('allows nothing that the check refuses: %s', (_, type) => {
    const { pattern, anyOf = [] } = schemaOf(type) as Json;
    const patterns: string[] = [pattern, ...anyOf.map((each: Json) => each['pattern'])].filter(Boolean);
    expect(patterns).toHaveLength(1);
    const texts = fc.stringMatching(new RegExp(patterns[0]!, 'u'));
    fc.assert(
      fc.property(texts, (text) => expect(type.safeParse(text).error && text).toBeUndefined()),
      { numRuns: runs(500), seed: 20_261_126 },
    );
  });

  it('allows dates before 1970, which are no times before now', () => {
    expect(fields.timeText.parse('1969-12-31T23:00:00Z')).toBe(0);
    expect(fields.timeText.parse('1h')).toBe(-3_600_000);
  });
});

describe('the length of a text', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const bounded: [string, z.ZodType, number][] = [
    ['name', fields.name, 200],
    ['new name', fields.newName, 200],
    ['permit id', fields.permitId, 200],
    ['pattern', fields.pattern, 4096],
    ['names', fields.names, 4096],
    ['reason', fields.reason, 1000],
    ['any text', fields.text(1000), 1000],
  ];

  it.each(bounded)('is counted by the document as by the check, in whole characters: %s', (_, type, most) => {
    const isAllowed = ajv.compile(schemaOf(type) as Json);
    for (const character of ['x', 'ü', '😀', 'x😀']) {
      const count = Array.from(character).length;
      const fits = character.repeat(most / count);
      const texts = [fits, `${fits}x`, `${fits}😀`, `${fits}${fits}`, character.repeat(most / count / 2 + 1)];
      // A pattern may have other faults: a program of more instructions than RE2 is let have.
      const isTooLong = (text: string) => type.safeParse(text).error?.message.includes('longer than') ?? false;
      expect(texts.map((text) => !isTooLong(text))).toEqual([true, false, false, false, true]);
      expect(texts.map((text) => isAllowed(text))).toEqual([true, false, false, false, true]);
    }
  });

  it('is the same in the store: what was accepted can be read again', () => {
    expect(storedText.safeParse('😀'.repeat(1000)).success).toBe(true);
    expect(storedText.safeParse('😀'.repeat(1001)).success).toBe(false);
  });

  it('is the same for a matcher: a name of 200 characters can be let through', () => {
    const matches = compilePattern('(😀|x)*');
    if (typeof matches === 'string') throw new Error(matches);
    expect(['😀'.repeat(200), '😀'.repeat(201)].map(matches)).toEqual([true, false]);
  });
});

/** Unknown fields are refused, which the document doesn't say for the sake of generated clients. */
function closed(schema: Json): Json {
  const entries = Object.entries(schema).map(([key, each]) => [
    key,
    typeof each === 'object' && each !== null && !Array.isArray(each) ? closed(each) : each,
  ]);
  return { ...Object.fromEntries(entries), ...(schema['type'] === 'object' && { additionalProperties: false }) };
}

describe('the texts in the submission of a task', () => {
  const { properties } = schemaOf(submitTaskBody) as Json;
  const { unique, to, retention } = properties;
  const submit = (options: object) => parseSubmitOptions('mail:a', options);

  it.each<[string, Json, (text: string) => unknown]>([
    ['id', properties.id, (id) => nameOfId(id, undefined)],
    ['fairKey', properties.fairKey, (key) => fairKeyOf('mail:a', key, {})],
    ['unique.key', unique.properties.key, (key) => nameOfId(`mail:${key}`, undefined)],
    ['to.instance', to.properties.instance, (instance) => submit({ to: { instance } })],
    ['retention', retention.anyOf[1], (text) => submit({ retention: text })],
  ])('allow nothing that the submission refuses: %s', (_, { pattern }, read) => {
    const texts = fc.stringMatching(new RegExp(pattern, 'u'));
    fc.assert(
      fc.property(texts, (text) => void read(text)),
      { numRuns: runs(500), seed: 20_261_127 },
    );
  });
});
