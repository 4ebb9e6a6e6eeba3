import type { ArchivedDefinition } from '../definition-archive.js';
import { isRefusedValue } from './refusal.js';

/** The outcome of a save, row by row. */
export interface SavedApart<Row> {
  /** The answers of the statements. */
  readonly rows: Row[];
  readonly refused: RefusedRow[];
}

/** A row that the database can't keep as it is. */
export interface RefusedRow {
  readonly definition: ArchivedDefinition;
  readonly error: Error;
}

/**
 * Writes all in one statement. Where the database refuses a value it writes each half by itself, down to the single row
 * that it refuses, so that this row costs no other.
 *
 * @param write writes all or nothing
 * @throws the error of `write`, unless the value of a row caused it
 */
export async function saveApart<Row>(
  definitions: readonly ArchivedDefinition[],
  write: (definitions: readonly ArchivedDefinition[]) => Promise<Row[]>,
): Promise<SavedApart<Row>> {
  try {
    return { rows: await write(definitions), refused: [] };
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    if (definitions.length === 1) return { rows: [], refused: [{ definition: definitions[0]!, error }] };
    const middle = Math.ceil(definitions.length / 2);
    const first = await saveApart(definitions.slice(0, middle), write);
    const second = await saveApart(definitions.slice(middle), write);
    return { rows: [...first.rows, ...second.rows], refused: [...first.refused, ...second.refused] };
  }
}
