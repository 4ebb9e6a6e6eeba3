import {
  type DefinitionChange,
  type SemaphoreRecord,
  type View,
  edit,
  intendedDefinition,
  messageOf,
} from '../decision/index.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../stores/index.js';
import { forEachLimit } from '../async/for-each-limit.js';
import { type Pieces, Slices, inSlices } from '../async/slices.js';
import { type Context, timeOf } from '../context/context.js';
import { NothingMatchesError } from './definitions.errors.js';
import type { NodeInfo } from '../activity/index.js';
import type { SemaphoreListing } from '../records/semaphore-listing.js';
import { type BulkRequest, type BulkResult, parseBulkRequest } from './bulk-request.js';
import type { DefinitionWriter } from './definition-writer.js';
import { type MigrationPlan, namesInPieces, planSteps } from './migration.js';
import type { MigrationStep } from './migration-request.js';
import {
  type MigrationOptions,
  type MigrationRequest,
  parseMigrationOptions,
  parseMigrationRequest,
} from './migration-request.js';

/**
 * Limit of matching steps in one bulk change: 100,000 names with a pattern of 300 instructions. At most 40 s of CPU.
 */
const MOST_WORK = 1_000_000_000;

/** Returns the changed definition, or undefined if nothing has to change. */
type Change = (
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
) => SemaphoreRecord | undefined;

/** Changes many definitions, each one separately, so that a failure does not stop the others. */
export class BulkChanges {
  constructor(
    private readonly listing: SemaphoreListing,
    private readonly writer: DefinitionWriter,
    private readonly context: Context,
    private readonly nodes: () => Promise<readonly NodeInfo[]>,
  ) {}

  async planMigration(request: MigrationRequest, { limit, only }: MigrationOptions = {}): Promise<MigrationPlan> {
    const parsed = parseMigrationRequest(request);
    parseMigrationOptions({ limit, only });
    const [records, nodes] = await Promise.all([this.#records(only, parsed.names), this.nodes()]);
    const named = await this.#named(parsed.names, records, 'a migration');
    const { node } = this.context;
    const plan = planSteps(parsed, named, { records, nodes, node, now: timeOf(this.context) });
    const steps = await this.#inSlices(plan, 'a migration');
    return { steps: steps.slice(0, limit), remaining: Math.max(0, steps.length - (limit ?? Infinity)) };
  }

  async migrate(request: MigrationRequest, options: MigrationOptions = {}): Promise<MigrationPlan> {
    const { limit, only, onPlanned, onProgress, ...author } = parseMigrationOptions(options);
    const { steps, remaining } = await this.planMigration(request, { limit, only });
    onPlanned?.(steps.length);
    const ended: MigrationStep[] = [];
    const end = (step: MigrationStep) => {
      ended.push(step);
      onProgress?.({ done: ended.length, total: steps.length, step });
    };
    await this.#eachWhileAnswered(steps, async (step) => {
      try {
        await this.#migrateOne(step, author);
      } catch (error) {
        end({ ...step, outcome: 'failed', error: messageOf(error) });
        throw error;
      }
      end({ ...step, outcome: 'migrated' });
    });
    return { steps: ended.toSorted(byName), remaining: remaining + steps.length - ended.length };
  }

  async changeAll(kind: 'pause' | 'resume', request: BulkRequest = {}, rewriting: Change): Promise<BulkResult> {
    const { names, limit, only, onPlanned, ...author } = parseBulkRequest(request);
    const records = await this.#records(only, names);
    const isDue = ({ pause }: SemaphoreRecord) => (pause === undefined) === (kind === 'pause');
    const named = await this.#named(names, records, `to ${kind} many semaphores`);
    const all = named.filter((name) => isDue(records.get(name)!));
    const due = all.slice(0, limit);
    onPlanned?.(due.length);
    const done: string[] = [];
    const failed = await this.#eachWhileAnswered(due, async (name) => {
      await this.writer.write<void>(kind, name, author, {
        // The record is missing if the definition was removed a moment ago. Then there is nothing to change.
        rewriting: (record, ...rest) => record && rewriting(record, ...rest),
        done: () => undefined,
        unchanged: () => undefined,
      });
      done.push(name);
    });
    return {
      done: done.toSorted(),
      failed: [...failed].map(([name, error]) => ({ name, error: messageOf(error) })),
      remaining: all.length - done.length - failed.size,
    };
  }

  async #migrateOne(step: MigrationStep, author: { by?: string; reason?: string }): Promise<void> {
    const options = { ...author, expectedRevision: step.revision };
    await this.writer.write<void>('migrate', step.name, options, {
      // The planned revision has a definition, and `expectedRevision` makes sure that the record has this revision.
      rewriting: (record, ...rest) => edit(record!, { ...intendedDefinition(record!)!, ...step.to }, ...rest),
      done: () => undefined,
      unchanged: () => undefined,
    });
  }

  /**
   * All readable records that can be changed. Leaves out unreadable records, which the state reports, and the package's
   * own. Also leaves out names that only exist because of a permit, unless the pattern is exactly that name. This node
   * takes over the texts, so that each change starts from them.
   */
  #records(
    only: (name: string) => boolean = () => true,
    names?: string,
  ): Promise<ReadonlyMap<string, SemaphoreRecord>> {
    return this.listing.takenIn(only, names);
  }

  /**
   * Runs `work` for each item. A failure of one item does not stop the others. But if the store does not answer, the
   * rest is skipped, because each further call would only wait.
   *
   * @returns the failures
   * @throws StoreUnavailableError if nothing was done and surely nothing was changed
   */
  async #eachWhileAnswered<Item>(
    items: readonly Item[],
    work: (item: Item) => Promise<void>,
  ): Promise<Map<Item, unknown>> {
    const slices = Slices.of(this.context.nodeClock);
    const failed = new Map<Item, unknown>();
    let count = 0;
    const attempt = async (item: Item) => {
      await slices.turn();
      await work(item).catch((error: unknown) => {
        failed.set(item, error);
        if (isOutage(error)) throw error;
      });
      count++;
    };
    await forEachLimit(items, attempt).catch((error: unknown) => {
      if (!isOutage(error)) throw error;
      const isUntouched = count === 0 && [...failed.values()].every((each) => each instanceof StoreUnavailableError);
      if (isUntouched) throw error;
    });
    return failed;
  }

  /**
   * The names that match, in order.
   *
   * @throws NothingMatchesError: a mistyped pattern must not look like success
   */
  async #named(
    names: string | undefined,
    records: ReadonlyMap<string, SemaphoreRecord>,
    subject: string,
  ): Promise<string[]> {
    const defined = [...records].flatMap(([name, { definition }]) => (definition ? [name] : []));
    const named = await this.#inSlices(namesInPieces(names, defined), subject);
    if (names !== undefined && named.length === 0) throw new NothingMatchesError(names);
    return named;
  }

  /** @throws InvalidOptionsError if matching all names takes too many steps */
  #inSlices<T>(work: Pieces<T>, subject: string): Promise<T> {
    return inSlices(work, this.context.nodeClock, { most: MOST_WORK, subject });
  }
}

function isOutage(error: unknown): boolean {
  return error instanceof StoreUnavailableError || error instanceof UnknownOutcomeError;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
