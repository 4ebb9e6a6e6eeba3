/** Maximum number of values in one piece. To write them takes some tens of µs. */
const FEW = 100;
/** Number of characters of a text that count as one value. */
const TEXT = 100;

/** Writes plain data as `JSON.stringify` does, but in pieces of at most {@link FEW} values. */
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

/** Whether a list or an object has more than {@link FEW} values, on all its levels together. */
export function isLong(value: unknown): value is object {
  return typeof value === 'object' && value !== null && valuesLeft(value, FEW) < 0;
}

/** Counts values down from `most`, and stops below 0. @returns the rest */
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
