/**
 * A doubted text: the store says that the record may lack writes which it had acknowledged. For example, another server
 * took over, with a copy of the data that may lack the newest ones. A node that knows exactly the text of the copy can't
 * see that, and a new node can't either. So the store marks the text itself:
 *
 *     {"v":1,…}  ──(another server took over)──▶  ?{"v":1,…}  ──(restore, with a grace)──▶  {"v":1,…}
 *
 * A record that is doubted is handled like one that was lost (`recovery.ts`). No text that a node writes begins with the
 * mark, so a compare-and-set from a text that was read before fails.
 */
export const DOUBT = '?';

export function isDoubted(text: string | undefined): boolean {
  return text !== undefined && text.startsWith(DOUBT);
}

/** The text that was written, for readers that need not care. */
export function withoutDoubt(text: string): string {
  return isDoubted(text) ? text.slice(DOUBT.length) : text;
}
