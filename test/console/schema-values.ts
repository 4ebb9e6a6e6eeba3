import fc from 'fast-check';
import { Schemas } from '../../lib/console/openapi/document.js';
import type { z } from 'zod';

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  items?: Schema;
  examples?: unknown[] | undefined;
}

/** As the OpenAPI document has it, with every component written out. */
export function schemaOf(type: z.ZodType): Schema {
  const schemas = new Schemas();
  const resolved = (schema: Schema): Schema => {
    const { $ref, ...rest } = schema;
    if ($ref) return { ...rest, ...resolved(schemas.components[$ref.split('/').at(-1)!] as Schema) };
    const { properties, items, anyOf } = schema;
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, resolved(each)])),
      }),
      ...(items && { items: resolved(items) }),
      ...(anyOf && { anyOf: anyOf.map(resolved) }),
    };
  };
  return resolved(schemas.of(type) as Schema);
}

export const names = fc.constantFrom(
  'job',
  'other',
  'a/b',
  'x'.repeat(201),
  '',
  'ü "<>',
  '..%2f',
  '..',
  'a\u0000b',
  'a\u0085b',
);
const outside: fc.Arbitrary<unknown> = fc.oneof(fc.jsonValue(), fc.string(), fc.integer(), fc.constant('__proto__'));

/** Values that a JSON schema allows, and sometimes values that it does not. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: inside(schema), weight: 9 }, { arbitrary: outside, weight: 1 });
}

function inside(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(inside));
  if (schema.examples)
    return fc.oneof(
      { arbitrary: fc.constantFrom(...schema.examples), weight: 3 },
      inside({ ...schema, examples: undefined }),
    );
  switch (schema.type) {
    case 'object': {
      const entries = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, valuesOf(each)] as const);
      const required = schema.required ?? [];
      const recordOf = (some: typeof entries) => fc.record(Object.fromEntries(some), { requiredKeys: required });
      // With all of many fields, nearly every value would have one that is not allowed.
      const few = fc
        .subarray(
          entries.filter(([name]) => !required.includes(name)),
          { maxLength: Math.min(3, entries.length - required.length) },
        )
        .chain((some) => recordOf([...entries.filter(([name]) => required.includes(name)), ...some]));
      return fc.oneof(
        { arbitrary: few, weight: 5 },
        { arbitrary: recordOf(entries), weight: 4 },
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
        {
          arbitrary: smallIntegers(schema),
          weight: schema.type === 'integer' ? 4 : 1,
        },
        fc.double({ noDefaultInfinity: true, noNaN: true }),
      );
    case 'string':
      return fc.oneof(
        names,
        fc.string(),
        fc.constantFrom(
          '.*',
          'app[12]',
          '(',
          '5s',
          '366d',
          '0',
          '99 h',
          '1e3',
          'default',
          '1',
          'mail:a',
          'import[june]#2',
        ),
      );
    default:
      return outside;
  }
}

/** The first whole numbers that the schema allows. */
function smallIntegers({ minimum: min = 0, maximum = Infinity }: Schema): fc.Arbitrary<number> {
  return fc.integer({ min, max: Math.min(maximum, Math.max(5000, min + 5000)) });
}
