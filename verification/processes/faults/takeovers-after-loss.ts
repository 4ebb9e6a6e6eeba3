import type { Handover, HistoryEntry } from '../../proof/history/history.js';

/** How a leader or an owner lost or gave up what it had. */
export type Loss = 'kill -9' | 'freeze' | 'cut' | Handover;

export interface Takeover {
  readonly loss: Loss;
  /** ms from the loss to the next grant, which another process got. */
  readonly took: number;
}

/** @param entries of one semaphore with one permit, and of the processes */
export function takeoversAfterLoss(entries: readonly HistoryEntry[]): Takeover[] {
  const takeovers: Takeover[] = [];
  let holder: string | undefined;
  let lost: { readonly loss: Loss; readonly at: number } | undefined;
  for (const entry of entries) {
    const loss = lossOf(entry);
    if (loss && entry.process === holder) lost ??= { loss, at: entry.at };
    // A short freeze or cut, after which it went on.
    else if (entry.event === 'refreshed' && entry.process === holder) lost = undefined;
    else if (isRelease(entry) && !lost && entry.process === holder) holder = undefined;
    else if (entry.event === 'granted') {
      if (lost && entry.process !== holder) takeovers.push({ loss: lost.loss, took: entry.at - lost.at });
      lost = undefined;
      holder = entry.process;
    }
  }
  return takeovers;
}

function isRelease(entry: HistoryEntry): boolean {
  return entry.event === 'invoked' && entry.verb === 'release';
}

function lossOf(entry: HistoryEntry): Loss | undefined {
  switch (entry.event) {
    case 'killed':
      return 'kill -9';
    case 'frozen':
      return 'freeze';
    case 'cut':
      return 'cut';
    case 'handing-over':
      return entry.how;
    default:
      return undefined;
  }
}
