import type { EntryOf, HistoryEntry } from './history.js';
import type { Violations } from './violations.js';

type Invoked = EntryOf<'invoked'>;

/** Which verbs an answer may belong to. */
const ANSWERS: Partial<Record<HistoryEntry['event'], readonly Invoked['verb'][]>> = {
  granted: ['acquire'],
  refreshed: ['refresh'],
  released: ['release'],
  denied: ['acquire', 'refresh'],
  failed: ['acquire', 'refresh', 'release'],
};

/** H: every answer belongs to one call of the same process that asked for such a thing, and a call has one answer. */
export class Calls {
  readonly #open = new Map<string, Invoked>();
  readonly #answered = new Set<string>();

  constructor(private readonly violations: Violations) {}

  /** Calls without an answer so far. */
  get open(): Iterable<Invoked> {
    return this.#open.values();
  }

  /** @returns the call that `entry` answers */
  see(entry: HistoryEntry): Invoked | undefined {
    if (entry.event === 'invoked') {
      this.#begin(entry);
      return undefined;
    }
    const verbs = ANSWERS[entry.event];
    if (!verbs || !('call' in entry) || entry.call === undefined) return undefined;
    return this.#answer(entry, entry.call, verbs);
  }

  #begin(entry: Invoked): void {
    const { call, verb, permit, process, semaphore } = entry;
    if (this.#open.has(call) || this.#answered.has(call)) {
      this.#broken(`${process} began call ${call}, and a call of that name was there before`, entry);
    }
    if (verb !== 'acquire' && permit === undefined) {
      this.#broken(`${process} began to ${verb} a permit of ${semaphore} without saying which`, entry);
    }
    this.#open.set(call, entry);
  }

  #answer(entry: HistoryEntry, call: string, verbs: readonly string[]): Invoked | undefined {
    const answer = `the answer ${entry.event} to call ${call} of ${entry.process}`;
    const invoked = this.#open.get(call);
    if (!invoked) {
      const why = this.#answered.has(call) ? 'is its second one' : 'answers no call';
      this.#broken(`${answer} ${why}`, entry);
      return undefined;
    }
    this.#open.delete(call);
    this.#answered.add(call);
    if (!isAnswer(entry, invoked) || !verbs.includes(invoked.verb)) {
      const { verb, semaphore, permit = '', process } = invoked;
      this.#broken(`${answer} does not fit it: ${process} asked to ${verb} ${semaphore} ${permit}`.trim(), entry);
    }
    return invoked;
  }

  #broken(text: string, entry: HistoryEntry): void {
    const semaphore = 'semaphore' in entry ? entry.semaphore : undefined;
    this.violations.add('H', text, { semaphore, processes: [entry.process] });
  }
}

function isAnswer(entry: HistoryEntry, { process, semaphore, permit, verb }: Invoked): boolean {
  const isOfSamePermit = verb === 'acquire' || !('permit' in entry) || entry.permit === permit;
  return isOfSamePermit && entry.process === process && 'semaphore' in entry && entry.semaphore === semaphore;
}
