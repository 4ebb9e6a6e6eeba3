import { Periodic } from '../../../core/async/periodic.js';
import type { Context } from '../../../core/context/context.js';
import type { HistoryEntry, RunEntry } from '../history-answers.js';
import type { NodeInfo } from '../node-info.js';
import type { ArchivedRun } from './history-archive.js';

/** ms between two looks. Each reads the journal of runs once, which holds 10,000 entries. */
const INTERVAL = 600_000;
/** ms until the first look. */
const FIRST = 60_000;
/** Default capacity of the journal. */
const ALL = 10_000;

interface CrashedRunsParts {
  /** Reads the last entries of all nodes. */
  readonly read: (limit: number) => Promise<readonly HistoryEntry[]>;
  /** The living nodes. */
  readonly nodes: () => Promise<readonly Pick<NodeInfo, 'instance' | 'startedAt'>[]>;
  readonly archive: (run: ArchivedRun) => void;
  /** A look failed; the next one follows. */
  readonly onError: (error: unknown) => void;
}

/**
 * Finds runs whose node died, which can't archive them. The living node that started first archives each of them once. The
 * others only remember at their looks what it has archived, so that the next one of them goes on if it dies.
 */
export class CrashedRuns {
  readonly #periodic: Periodic;
  /** Ids of crashed runs in the journal, each with the number of looks at which this node has seen it. */
  #seen: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly context: Context,
    private readonly parts: CrashedRunsParts,
  ) {
    const { nodeClock, random } = context;
    const chance = () => random.number();
    this.#periodic = new Periodic(nodeClock, () => this.#look(), {
      interval: () => INTERVAL,
      chance,
      onError: parts.onError,
    });
  }

  start(): void {
    this.#periodic.start(FIRST);
  }

  stop(): void {
    this.#periodic.stop();
  }

  async #look(): Promise<void> {
    const { read, nodes, archive } = this.parts;
    const isFirst = (await nodes()).toSorted(byStart)[0]?.instance === this.context.node.instance;
    const seen = new Map<string, number>();
    for (const entry of await read(ALL)) {
      if (entry.kind !== 'run' || entry.outcome !== 'crashed') continue;
      const id = idOf(entry);
      const looks = this.#seen.get(id) ?? 0;
      // At the second look the node that started first has had time to archive it, or this node has.
      if (isFirst && looks < 2) archive({ ...entry, took: 0, id });
      seen.set(id, isFirst ? 2 : looks + 1);
    }
    this.#seen = seen;
  }
}

/** The same on each node, so that an archive can recognise a run that it has. */
function idOf({ node, at, run, semaphore }: RunEntry): string {
  return `${node.instance}-crashed-${at}-${run}-${semaphore}`;
}

function byStart(one: { instance: string; startedAt: number }, other: { instance: string; startedAt: number }): number {
  return one.startedAt - other.startedAt || (one.instance < other.instance ? -1 : 1);
}
