import type { ArchivedDefinition } from '../../../../core/decision/index.js';
import { isRefusedValue } from '../../../archives/postgres/refusal.js';

/** The outcome of a save, row by row. */
export interface SavedApart<Row> {
  /** The answers of the statements. */
  readonly rows: Row[];
  readonly refused: RefusedRow[];
}

/** A row that the database refused because of its values. */
export interface RefusedRow {
  readonly definition: ArchivedDefinition;
  readonly error: Error;
}

/**
 * Writes all definitions in one statement. If the database refuses a value, writes each half separately, down to the
 * single refused row. So a refused row does not stop any other row.
 *
 * @param write writes all or nothing
 * @throws any error of `write` that a row's value did not cause
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
