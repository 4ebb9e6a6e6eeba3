/** Whether every word that is searched for stands in one of the texts, in whatever case. */
export function hasWords(texts: readonly (string | undefined)[], search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const all = texts.join('\n').toLowerCase();
  return words.every((word) => all.includes(word));
}
