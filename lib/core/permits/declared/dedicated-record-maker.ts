import {
  type NameClaim,
  LONGEST_ON_DEMAND,
  definitionOnDemand,
  isActive,
  pendingRecord,
  restore,
  rewrite,
} from '../../decision/index.js';
import { codeDefinition } from './node-code.js';
import { forEachLimit } from '../../async/for-each-limit.js';
import { type Pieces, inSlices } from '../../async/slices.js';
import type { Context } from '../../context/context.js';
import { isUnreadable } from '../../cell/known-record.js';
import type { DedicatedRecords } from '../../cell/dedicated-records.js';
import type { DedicatedCell } from '../../cell/semaphore-records.js';
import type { Shards } from '../../cell/shards.js';

/** Origin in the claim of a record that a former version wrote. Such a record has no origin. */
const FORMER = 'former';

/** ms for which a claimed record may be pending before a call makes it active. */
const PATIENCE = 60_000;

/** Creates records for names that code defines, and claims the names in their shards (see `decision/claims`). */
export class DedicatedRecordMaker {
  constructor(
    private readonly own: DedicatedRecords,
    private readonly shards: Shards,
    private readonly context: Context,
  ) {}

  /**
   * Creates missing records as pending ones, and tries to claim their names. A shard may refuse a claim for a while.
   */
  async prepare(names: readonly string[]): Promise<void> {
    await forEachLimit(names, (name) => this.#makePending(this.own.of(name)));
    await this.shards.claim(names.flatMap((name) => this.#claimOf(this.own.of(name)) ?? []));
  }

  /**
   * Claims the names of active records again, if a shard lost the claim, or if a former version wrote the record.
   *
   * @param others records that are not in `own`
   */
  async claimAgain(others: Iterable<DedicatedCell>): Promise<void> {
    await this.shards.claim(await inSlices(this.#lacking(others), this.context.nodeClock));
  }

  /**
   * Makes a claimed record active for a call with a duration. This is needed if the declaring node died between the
   * claim and the definition, or if the record was lost and no living node declares the name. Waits until the record
   * has been pending for a minute: a living node that declares the name writes its own definition sooner.
   *
   * @param asked duration that the call asks for, in ms
   */
  async revive(cell: DedicatedCell, asked: number): Promise<void> {
    await this.#makePending(cell);
    await cell.transact<void>((record, view, nonce) => {
      if (!record || isActive(record) || view.now - record.at < PATIENCE) return { result: undefined };
      const { name } = cell;
      const definition = definitionOnDemand(name, asked);
      // No living node's code has it, so the next node with a definition of that name replaces it.
      const changes = { ...codeDefinition(definition), source: 'code' as const, revision: 1 };
      const first = rewrite(record, changes, view, nonce);
      // If the record was active before, its holders may have any duration that a call may ask for.
      const longest = { ...first, definition: definitionOnDemand(name, Math.max(asked, LONGEST_ON_DEMAND)) };
      const isUnsure = this.context.timing.strictStart || this.shards.claimOf(name) !== record.origin;
      const write = isUnsure ? { ...restore(longest, undefined, view, nonce), definition } : first;
      return { write, done: () => undefined };
    });
  }

  *#lacking(others: Iterable<DedicatedCell>): Pieces<NameClaim[]> {
    const lost: NameClaim[] = [];
    for (const cell of [...this.own.all(), ...others]) {
      const claim = this.#claimOf(cell);
      if (claim?.isActive) lost.push(claim);
      yield 1;
    }
    return lost;
  }

  /** @returns undefined if the name needs no claim, or has one */
  #claimOf({ name, known }: DedicatedCell): NameClaim | undefined {
    if (!known || !this.shards.lacksClaim(name)) return undefined;
    return { name, origin: known.origin ?? FORMER, isActive: isActive(known) };
  }

  async #makePending(cell: DedicatedCell): Promise<void> {
    if (cell.known) return;
    await cell
      .transact<void>((record, view, nonce) =>
        record
          ? { result: undefined }
          : { notify: 'none', write: pendingRecord(view.now, nonce), done: () => undefined },
      )
      .catch((error: unknown) => {
        // An unreadable record stays unchanged and does not stop the others. Its cell has reported it.
        if (!isUnreadable(error)) throw error;
      });
  }
}
