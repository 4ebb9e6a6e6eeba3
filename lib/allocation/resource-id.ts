import { show } from '../core/decision/index.js';

/** Longest id in UTF-16 code units. A page of ids is read and written as a whole. */
export const LONGEST_ID = 500;

/** @returns a sentence if a value can't be the id of a resource */
export function faultOfId(id: unknown): string | undefined {
  if (typeof id !== 'string') return `${show(id)} is not a string: let the id function return a string`;
  if (id === '') return 'the id is empty: give every resource an id of its own';
  if (id.length <= LONGEST_ID) return undefined;
  return `${show(id)} is longer than ${LONGEST_ID} characters: use a shorter id, for example a hash of it`;
}
