/** A number from 0 to `count` - 1 for a text: the same on every platform and version. Any spread is good enough. */
export function spreadOf(text: string, count: number): number {
  let hash = 0;
  for (const character of text) hash = (31 * hash + character.codePointAt(0)!) >>> 0;
  return hash % count;
}
