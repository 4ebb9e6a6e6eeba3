/** Whether every searched word occurs in one of the texts, ignoring case. */
export function hasWords(texts: readonly (string | undefined)[], search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const all = texts.join('\n').toLowerCase();
  return words.every((word) => all.includes(word));
}
