import type { Entry } from '../../../sample-app/src/ledger/ledger.js';

/** A line about a letter. */
export interface LetterEntry extends Entry {
  readonly customer: string;
  readonly page: number;
  readonly begunAt: number;
  readonly sentAt: number;
}

/** Sentences about ids that stand more than once, or are missing. Empty if each effect is there exactly once. */
export function notOnce(entries: readonly Entry[], count: number): string[] {
  const ids = new Set(entries.map(({ id }) => id));
  return [
    ...(ids.size === entries.length ? [] : [`${entries.length - ids.size} effects stand there twice`]),
    ...(ids.size === count ? [] : [`${ids.size} effects in place of ${count}`]),
  ];
}

/** Sentences about letters of one customer that overlapped, or came in another order. */
export function outOfOrder(letters: readonly LetterEntry[]): string[] {
  return [...new Set(letters.map(({ customer }) => customer))].flatMap((customer) => {
    const sent = letters.filter((each) => each.customer === customer);
    return sent.flatMap((each, index) => {
      const former = sent[index - 1];
      if (each.page !== index + 1) return [`${customer}: page ${each.page} came as number ${index + 1}`];
      return former && each.begunAt < former.sentAt ? [`${customer}: page ${each.page} began too early`] : [];
    });
  });
}

/** Whether letters of two customers were under way at the same time. */
export function areParallel(letters: readonly LetterEntry[]): boolean {
  return letters.some((one) =>
    letters.some(
      (other) => other.customer !== one.customer && other.begunAt < one.sentAt && one.begunAt < other.begunAt,
    ),
  );
}
