/** A hash of a text, from 0 to `count` - 1. The same on every platform and version. */
export function spreadOf(text: string, count: number): number {
  let hash = 0;
  for (const character of text) hash = (31 * hash + character.codePointAt(0)!) >>> 0;
  return hash % count;
}
