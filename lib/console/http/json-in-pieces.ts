/** Values that are written in one piece: that takes some tens of µs. */
const FEW = 100;
/** Characters of text that count as one value. */
const TEXT = 100;

/** JSON of plain data, as `JSON.stringify` writes it, in pieces of at most {@link FEW} values each. */
export function* jsonInPieces(value: unknown): Generator<string, void, void> {
  if (!isLong(value)) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* listInPieces(value);
  else yield* objectInPieces(value);
}

function* listInPieces(list: readonly unknown[]): Generator<string, void, void> {
  yield '[';
  for (const [index, each] of list.entries()) {
    if (index > 0) yield ',';
    yield* jsonInPieces(each);
  }
  yield ']';
}

function* objectInPieces(object: object): Generator<string, void, void> {
  let before = '{';
  for (const [key, each] of Object.entries(object)) {
    if (each === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    yield* jsonInPieces(each);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Whether a list or an object holds more than {@link FEW} values, in all of its levels together. */
export function isLong(value: unknown): value is object {
  return typeof value === 'object' && value !== null && valuesLeft(value, FEW) < 0;
}

/** @returns how many of `most` values are left; it stops looking when none is */
function valuesLeft(value: unknown, most: number): number {
  if (typeof value === 'string') return most - value.length / TEXT;
  if (typeof value !== 'object' || value === null) return most;
  let left = most;
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    left = valuesLeft(each, left - 1);
    if (left < 0) break;
  }
  return left;
}
