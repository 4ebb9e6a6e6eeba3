import { z } from 'zod';
import type { Pieces } from '../../core/async/slices.js';
import { patternFault } from '../../core/decision/index.js';
import { isPatternField } from '../api/index.js';

type Issue = z.core.$ZodIssue;

/**
 * Compiles the patterns of a request, in pieces of one each, and finds those with faults. Only fields of the route are looked
 * at, and no list that is too long or has another fault. So there are never more than a valid request may have.
 *
 * @param schema of the route's body
 * @param value as the client sent it
 */
export function* patternIssues(schema: z.ZodType, value: unknown): Pieces<Issue[]> {
  const issues: Issue[] = [];
  for (const [path, pattern] of patternsIn(schema, value, [])) {
    const message = patternFault(pattern);
    if (message !== undefined) issues.push({ code: 'custom', path: [...path], message, input: pattern });
    yield 1;
  }
  return issues;
}

type Path = readonly (string | number)[];

function* patternsIn(schema: z.ZodType, value: unknown, path: Path): Generator<[Path, string], void> {
  if (schema instanceof z.ZodOptional) yield* patternsIn(schema.unwrap() as z.ZodType, value, path);
  else if (isPatternField(schema)) {
    if (schema.safeParse(value).success) yield [path, value as string];
  } else if (schema instanceof z.ZodArray && schema.safeParse(value).success) {
    const element = schema.element as z.ZodType;
    for (const [index, each] of (value as unknown[]).entries()) yield* patternsIn(element, each, [...path, index]);
  } else if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const [name, field] of Object.entries(schema.shape)) yield* patternsIn(field, fields[name], [...path, name]);
  }
}
