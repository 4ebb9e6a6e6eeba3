import { z } from 'zod';

export type Json = Record<string, unknown>;

/**
 * The schemas of one document. A schema that has an `id` in its `meta` becomes a component of that name, written once;
 * every use refers to it, so that a generated client has one type for it.
 */
export class Schemas {
  readonly components: Record<string, Json> = {};

  /** @returns the JSON schema, or the reference to its component */
  of(schema: z.ZodType): Json {
    // Wrapped, because a root schema is always written in full, even with an id.
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => fitForClients(jsonSchema as Json),
    });
    for (const [name, each] of Object.entries($defs)) this.components[name] ??= amongComponents(each);
    return amongComponents(properties!['it']);
  }
}

/** Generators use 32 bits for a number without a format; a fencing token needs 64. */
const FORMATS: Record<string, string> = { integer: 'int64', number: 'double' };

function fitForClients(schema: Json): void {
  const format = FORMATS[String(schema['type'])];
  if (format) schema['format'] ??= format;
  // openapi-generator's Java client sends such bodies empty. The server refuses unknown fields all the same.
  if (schema['additionalProperties'] === false) delete schema['additionalProperties'];
  // Of `anyOf` with a discriminator the TypeScript client makes one type that has the fields of all.
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
