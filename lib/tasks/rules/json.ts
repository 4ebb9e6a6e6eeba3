import { show } from '../../core/decision/index.js';

/** Bytes of data, or of a result, as JSON, unless an option says otherwise. */
export const MOST_BYTES = 65_536;

/**
 * Reads a value that is to be kept as JSON. The result is a copy, which later changes do not affect.
 *
 * @param most bytes as JSON
 * @returns the value and its text, of which `undefined` has none; a sentence without the field's name if it can't be kept
 */
export function readJson(
  value: unknown,
  most: number,
): { readonly value: unknown; readonly text?: string } | { readonly fault: string } {
  if (value === undefined) return { value };
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return NOT_JSON(value);
    // Before the value is copied and compared, which takes long for a large one.
    const bytes = Buffer.byteLength(text);
    if (bytes > most) return TOO_LARGE(bytes, most);
    // JSON.stringify drops functions and turns a Date into text. Then the handler would get another value than was given.
    const copy: unknown = JSON.parse(text);
    return isSame(copy, value) ? { value: copy, text } : NOT_JSON(value);
  } catch {
    return NOT_JSON(value); // in a circle, too deep for the stack, or with a BigInt
  }
}

const NOT_JSON = (value: unknown) => {
  const { path, part } = unfitIn(value) ?? { path: '', part: value };
  const where = path === '' ? '' : `${path}: `;
  return {
    fault: `${where}${show(part)} is not JSON: give only text, finite numbers, booleans, null, lists and plain objects`,
  };
};

/** The first part of a value that JSON does not keep, with the names and places that lead to it. */
function unfitIn(value: unknown): { readonly path: string; readonly part: unknown } | undefined {
  const seen = new Set<object>();
  // A list in place of recursion: the value may be too deep for the stack.
  for (const parts = [{ path: '', part: value }]; parts.length > 0;) {
    const next = parts.pop()!;
    const { path, part } = next;
    if (isFit(part)) continue;
    const isList = Array.isArray(part) && Object.getPrototypeOf(part) === Array.prototype;
    if ((!isList && !isPlain(part)) || seen.has(part as object)) return next;
    seen.add(part as object);
    const inside = isList
      ? part.map((each, place) => ({ path: `${path}[${place}]`, part: each as unknown }))
      : Object.entries(part as object)
          .filter(([, each]) => each !== undefined)
          .map(([name, each]) => ({ path: path === '' ? name : `${path}.${name}`, part: each as unknown }));
    parts.push(...inside.toReversed());
  }
  return undefined;
}

function isFit(part: unknown): boolean {
  return part === null || ['string', 'boolean'].includes(typeof part) || Number.isFinite(part);
}

const TOO_LARGE = (bytes: number, most: number) => ({
  fault: `${bytes} bytes as JSON are more than ${most}: keep large data elsewhere, and give its address`,
});

/**
 * Whether JSON has kept a value. Fields without a value are no fault: `{ note: undefined }` is the same as `{}`. Nor is -0,
 * which JSON writes as 0.
 */
function isSame(copy: unknown, value: unknown): boolean {
  if (copy === value) return true;
  if (Array.isArray(value)) return isSameList(copy, value);
  if (!isPlain(value) || !isPlain(copy)) return false;
  let count = 0;
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue;
    if (!Object.hasOwn(copy, name) || !isSame(copy[name], value[name])) return false;
    count++;
  }
  return count === Object.keys(copy).length;
}

/** A list of a class of its own would become a plain one, and a gap `null`. */
function isSameList(copy: unknown, list: readonly unknown[]): boolean {
  if (!Array.isArray(copy) || Object.getPrototypeOf(list) !== Array.prototype) return false;
  for (let index = 0; index < list.length; index++) if (!isSame(copy[index], list[index])) return false;
  return copy.length === list.length;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
