/** JSON never begins like this, so no codec accepts such a text as a record. */
const FOREIGN = 'not a record: ';

/**
 * Records, tasks and hints are plain strings. Any other value comes from another program. It becomes a text that can't be
 * decoded, so that the record is reported as corrupt and the call does not fail. The value must not count as a record,
 * because it never equals a string, so every compare-and-set would fail.
 */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : FOREIGN + render(value);
}

/** Like {@link textOf}, for a value that this client can't deserialize, such as a Java object. */
export function unreadableText(error: Error): string {
  return `${FOREIGN}${error.message}`;
}

/** Like {@link textOf}, for the answer of a call; undefined if it is null. */
export async function textIn(answer: Promise<unknown>): Promise<string | undefined> {
  try {
    const value = await answer;
    return value === null ? undefined : textOf(value);
  } catch (error) {
    if (isUnreadable(error)) return unreadableText(error);
    throw error;
  }
}

/** Whether a text stands for a value of another program. */
export function isForeign(text: string): boolean {
  return text.startsWith(FOREIGN);
}

/** The client's deserializers throw a RangeError for unknown types, and for data that ends too early. */
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
