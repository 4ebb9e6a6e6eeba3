import { z } from 'zod';
import type { Pieces } from '../../async/slices.js';
import { patternFault } from '../../decision/index.js';
import { isPatternField } from '../api/index.js';

/**
 * Compiles the patterns of a request, and lists their faults. Work in pieces of one pattern each.
 *
 * @param schema of the route's body. Only its own patterns are compiled
 * @param value that has passed the schema
 */
export function* patternFaults(schema: z.ZodType, value: unknown): Pieces<string[]> {
  const faults: string[] = [];
  for (const [path, pattern] of patternsIn(schema, value, [])) {
    const fault = patternFault(pattern);
    if (fault !== undefined) faults.push(`${path.join('.')}: ${fault}`);
    yield 1;
  }
  return faults;
}

type Path = readonly (string | number)[];

function* patternsIn(schema: z.ZodType, value: unknown, path: Path): Generator<[Path, string], void> {
  if (value === undefined) return;
  if (isPatternField(schema)) yield [path, value as string];
  else if (schema instanceof z.ZodOptional) yield* patternsIn(schema.unwrap() as z.ZodType, value, path);
  else if (schema instanceof z.ZodArray) {
    const element = schema.element as z.ZodType;
    for (const [index, each] of (value as unknown[]).entries()) yield* patternsIn(element, each, [...path, index]);
  } else if (schema instanceof z.ZodObject) {
    const fields = value as Record<string, unknown>;
    for (const [name, field] of Object.entries(schema.shape)) yield* patternsIn(field, fields[name], [...path, name]);
  }
}
