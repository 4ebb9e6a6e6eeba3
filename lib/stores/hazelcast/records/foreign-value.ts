/** No JSON begins like this, so no codec will take such a text for a record. */
const FOREIGN = 'not a record: ';

/**
 * Our records are plain strings. Whatever else lies in the map was put there by another program, and is shown as a text
 * that can't be decoded: the record is then reported as corrupt, instead of the call failing or the value being taken
 * for a record. (It must not be: no compare-and-set would ever find it equal to a string.)
 */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : FOREIGN + render(value);
}

/** For a value of a type that this client can't even read, such as a Java object. */
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
    return String(value); // cyclic, or with a bigint: that it is foreign is all that matters
  }
}
