/* How lists write times, ids and many names. */

/** Formats ms since the epoch: "2026-11-21 16:40:05Z", or "?" for an invalid time. */
export function timeText(at: number): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15
    ? `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`
    : '?';
}

/** Shortens a random id to its first 8 characters. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/**
 * Formats a list: the first names, and the number of the others.
 *
 * @param total if `names` are only the first of so many
 * @param most number of names that it shows
 */
export function someOf(names: readonly string[], total = names.length, most = 10): string {
  const more = total - Math.min(names.length, most);
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
