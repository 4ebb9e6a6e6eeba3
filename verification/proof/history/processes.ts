import type { HistoryEntry } from './history.js';
import { formatTime } from './format.js';
import type { Violations } from './violations.js';

interface Freeze {
  readonly from: number;
  until: number;
}

/** Entries that others log about a process, not the process itself. */
const TOLD_BY_OTHERS = new Set<HistoryEntry['event']>([
  'killed',
  'frozen',
  'thawed',
  'cut',
  'handing-over',
  'written',
  'limited',
  'fault-begun',
  'fault-over',
  'all-well',
]);

/** Times in which processes could do nothing, as they log afterwards; by process. */
function stallsOf(entries: readonly HistoryEntry[]): Map<string, Freeze[]> {
  const stalls = new Map<string, Freeze[]>();
  for (const entry of entries) {
    if (entry.event !== 'stalled') continue;
    const stall = { from: entry.since, until: entry.at };
    stalls.set(entry.process, [...(stalls.get(entry.process) ?? []), stall]);
  }
  return stalls;
}

/** Which processes could act when. H: the dead and the frozen say nothing. */
export class Processes {
  readonly #killed = new Map<string, number>();
  readonly #freezes = new Map<string, Freeze[]>();

  readonly #stalls: ReadonlyMap<string, readonly Freeze[]>;

  constructor(
    private readonly violations: Violations,
    private readonly slack: number,
    entries: readonly HistoryEntry[],
  ) {
    this.#stalls = stallsOf(entries);
  }

  /** How often processes got no CPU time although they were not frozen. */
  get stalls(): number {
    return [...this.#stalls.values()].flat().length;
  }

  see(entry: HistoryEntry): void {
    const { process, at, event } = entry;
    if (!TOLD_BY_OTHERS.has(event)) return this.#checkAble(entry);
    if (event === 'killed') {
      if (this.#killed.has(process)) this.#broken(`${process} was killed twice`, process);
      else this.#killed.set(process, at);
    }
    if (event === 'frozen') this.#freeze(process, at);
    if (event === 'thawed') this.#thaw(process, at);
  }

  isExpired(process: string): boolean {
    return this.#killed.has(process);
  }

  /** Infinity while it lives. */
  killedAt(process: string): number {
    return this.#killed.get(process) ?? Infinity;
  }

  /** The first moment from `at` on at which the process could act; Infinity while it is frozen. */
  awakeAt(process: string, at: number): number {
    let awake = at;
    const freezes = this.#freezes.get(process) ?? [];
    const stalls = this.#stalls.get(process) ?? [];
    const pauses = [...freezes, ...stalls].toSorted((one, other) => one.from - other.from);
    for (const { from, until } of pauses) {
      if (from <= awake + this.slack && until > awake) awake = until;
    }
    return awake;
  }

  #freeze(process: string, at: number): void {
    if (this.#isFrozen(process)) return this.#broken(`${process} was frozen twice`, process);
    const freezes = this.#freezes.get(process) ?? [];
    freezes.push({ from: at, until: Infinity });
    this.#freezes.set(process, freezes);
  }

  #thaw(process: string, at: number): void {
    const freeze = this.#freezes.get(process)?.at(-1);
    if (freeze?.until !== Infinity) return this.#broken(`${process} was thawed but had not been frozen`, process);
    freeze.until = at;
  }

  #isFrozen(process: string): boolean {
    return this.#freezes.get(process)?.at(-1)?.until === Infinity;
  }

  #checkAble({ process, at, event }: HistoryEntry): void {
    const killed = this.#killed.get(process);
    const frozen = this.#isFrozen(process) ? this.#freezes.get(process)!.at(-1)!.from : undefined;
    const [since, what] = killed === undefined ? [frozen, 'frozen'] : [killed, 'killed'];
    if (since === undefined || at <= since + this.slack) return;
    this.#broken(
      `${process} logged "${event}" although it was ${what} at ${formatTime(since, this.violations.start)}`,
      process,
    );
  }

  #broken(text: string, process: string): void {
    this.violations.add('H', text, { processes: [process] });
  }
}
