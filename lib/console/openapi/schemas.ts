import { z } from 'zod';

export type Json = Record<string, unknown>;

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
