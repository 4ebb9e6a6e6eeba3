import type { TextCollection } from '../../lib/core/store/index.js';

export interface TextWrite {
  readonly key: string;
  /** Undefined: there is none. */
  readonly expected: string | undefined;
  /** Undefined: the text is removed. */
  readonly next: string | undefined;
}

export type WriteKind = 'create' | 'replace' | 'remove';

export function kindOf({ expected, next }: Pick<TextWrite, 'expected' | 'next'>): WriteKind {
  if (expected === undefined) return 'create';
  return next === undefined ? 'remove' : 'replace';
}

/** Replaces a write; `go` makes it. */
export type Intercept = (go: () => Promise<boolean>, write: TextWrite) => Promise<boolean>;

/**
 * Replaces the writes of some kinds to a collection.
 *
 * @returns a function that lets writes through again
 */
export function interceptWrites(
  texts: TextCollection,
  kinds: WriteKind | readonly WriteKind[],
  intercept: Intercept,
): () => void {
  const inner = texts.compareAndSet;
  texts.compareAndSet = (key, expected, next, options) => {
    const go = () => inner.call(texts, key, expected, next, options);
    return [kinds].flat().includes(kindOf({ expected, next })) ? intercept(go, { key, expected, next }) : go();
  };
  return () => void (texts.compareAndSet = inner);
}
