/** No JSON begins like this, so no codec accepts such a text as a record. */
const FOREIGN = 'not a record: ';

/**
 * Records are plain strings. Any other value in the map comes from another program and becomes a text that can't be
 * decoded, so that the record is reported as corrupt and the call does not fail. It must not be accepted as a
 * record, because no compare-and-set would ever find it equal to a string.
 */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : FOREIGN + render(value);
}

/** As {@link textOf}, for a value that this client can't deserialize, such as a Java object. */
export function unreadableText(error: Error): string {
  return `${FOREIGN}${error.message}`;
}

/** The client's deserializers reject with RangeError: unknown types, and data that ends too early. */
export function isUnreadable(error: unknown): error is RangeError {
  return error instanceof RangeError;
}

function render(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value); // cyclic, or with a bigint: the exact text does not matter
  }
}
