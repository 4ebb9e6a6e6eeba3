import { show } from '../../core/decision/texts/show.js';

/**
 * Describes an answer that has another shape than was expected: "an object with success, data, without "health"". Names fields
 * and kinds of values, and shows no value: an answer may contain secrets.
 *
 * @param answer parsed JSON
 * @param path of the first field that is missing or wrong
 */
export function otherShape(answer: unknown, path: readonly PropertyKey[]): string {
  if (path.length === 0) return kindOf(answer);
  const found = path.reduce<unknown>((value, field) => Object(value)[field], answer);
  const name = show(path.map(String).join('.'));
  return found === undefined
    ? `${kindOf(answer)}, without ${name}`
    : `${kindOf(answer)}, whose ${name} is ${kindOf(found)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? show(value) : `a ${typeof value}`;
}
