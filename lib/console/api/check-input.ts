import { z } from 'zod';
import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { InvalidOptionsError, faultsOf, patternFault } from '../../core/decision/index.js';
import { isPatternField } from './fields.js';
import type { InputOf, Route } from './operation.js';

type Issue = z.core.$ZodIssue;

/** The input of a call as it was sent. */
interface Unchecked {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/**
 * Checks the input of a call by the schemas of its route. A refusal lists every fault.
 *
 * @throws InvalidOptionsError, or the signal's reason if it aborts meanwhile
 */
export async function checkInput(route: Route, sent: Unchecked, signal?: AbortSignal): Promise<InputOf<Route>> {
  const faults: string[] = [];
  const check = (schema: z.ZodType | undefined, value: unknown, others: readonly Issue[] = []) => {
    const parsed = schema?.safeParse(value);
    const issues = [...(parsed?.error?.issues ?? []), ...others];
    if (issues.length > 0) faults.push(...faultsOf(new z.ZodError(inOrder(issues, schema))));
    return parsed?.data;
  };
  const { body } = route;
  const ofPatterns = body && (await inSlices(patternIssues(body, sent.body), systemClock, undefined, signal));
  const input = {
    params: check(route.params, sent.params),
    query: check(route.query, sent.query),
    body: check(body, sent.body, ofPatterns),
  };
  if (faults.length > 0) throw new InvalidOptionsError('the request', faults);
  return input as InputOf<Route>;
}

/** The order of the fields in the schema, and unknown fields last. */
function inOrder(issues: Issue[], schema: z.ZodType | undefined): Issue[] {
  const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const place = ({ path: [field] }: Issue) => (field === undefined ? fields.length : fields.indexOf(String(field)));
  return issues.toSorted((one, other) => place(one) - place(other));
}

/**
 * Compiles the patterns of a request, in pieces of one each, and finds those with faults. Only fields of the route are looked
 * at, and no list that is too long or has another fault. So there are never more than a valid request may have.
 *
 * @param schema of the route's body
 * @param value as the client sent it
 */
function* patternIssues(schema: z.ZodType, value: unknown): Pieces<Issue[]> {
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
