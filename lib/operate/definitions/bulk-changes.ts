import {
  type CodeDefinition,
  type DefinitionChange,
  type SemaphoreRecord,
  type View,
  edit,
  intendedDefinition,
  messageOf,
  adoptCode,
} from '../../core/decision/index.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { type Context, timeOf } from '../../core/context/context.js';
import { isStoreError } from '../../core/store/index.js';
import { EditConflictError, NothingMatchesError, NotInCodeError } from './definitions.errors.js';
import type { NodeInfo } from '../activity/index.js';
import type { SemaphoreListing } from '../../core/cell/semaphore-listing.js';
import type { BulkResult, MigrationPlan, MigrationStep } from './answers.js';
import { type BulkRequest, parseBulkRequest } from './bulk-request.js';
import { isAsListed, type NewSet } from './change-sets/change-set.js';
import type { ChangeSets, ListedChange, PlannedChange } from './change-sets/change-sets.js';
import type { DefinitionWriter } from './definition-writer.js';
import { eachWhileAnswered } from './each-while-answered.js';
import { namesInPieces, planSteps } from './migration.js';
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
/** Times that a change is listed, while others change the definition between the listing and the change. */
const MOST_LISTINGS = 3;

/** Returns the changed definition, or undefined if nothing has to change. */
type Change = (
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
) => SemaphoreRecord | undefined;

interface Selected {
  readonly records: ReadonlyMap<string, SemaphoreRecord>;
  /** The names that match, in order. */
  readonly named: readonly string[];
  /** Matching names that can't be changed, because their records can't be read. */
  readonly unreadable: BulkResult['failed'];
}

/** Names that have to change, and their records, or the errors of those that can't be read. */
interface Due {
  readonly names: readonly string[];
  readonly records: ReadonlyMap<string, SemaphoreRecord | Error | undefined>;
}

/** The names that a call has changed, and those that it could not, with their errors. */
interface Ended {
  readonly done: string[];
  readonly failed: Map<string, unknown>;
}

interface Making {
  readonly author: Pick<BulkRequest, 'by' | 'reason'>;
  readonly rewritingOf: (name: string) => Change;
  readonly ended: Ended;
  readonly isLast: boolean;
}

/** A definition that was changed between the listing and the change. */
interface Changed {
  readonly name: string;
  readonly record: SemaphoreRecord;
}

/** Changes many definitions, each one separately, so that a failure does not stop the others. */
export class BulkChanges {
  constructor(
    private readonly listing: SemaphoreListing,
    private readonly writer: DefinitionWriter,
    private readonly sets: ChangeSets,
    private readonly context: Context,
    private readonly nodes: () => Promise<readonly NodeInfo[]>,
    private readonly recordOf: (name: string) => SemaphoreRecord | undefined,
  ) {}

  async planMigration(request: MigrationRequest, options: MigrationOptions = {}): Promise<MigrationPlan> {
    return (await this.#plannedMigration(request, options)).plan;
  }

  async #plannedMigration(request: MigrationRequest, { limit, only }: MigrationOptions) {
    const parsed = parseMigrationRequest(request);
    parseMigrationOptions({ limit, only });
    const selecting = this.#selected({ names: parsed.names, only }, 'a migration');
    const [{ records, named, unreadable }, nodes] = await Promise.all([selecting, this.nodes()]);
    const { node } = this.context;
    const planning = planSteps(parsed, named, { records, nodes, node, now: timeOf(this.context) });
    const steps = await this.#inSlices(planning, 'a migration');
    const remaining = Math.max(0, steps.length - (limit ?? Infinity));
    return { plan: { steps: steps.slice(0, limit), remaining, unreadable }, records };
  }

  async migrate(request: MigrationRequest, options: MigrationOptions = {}): Promise<MigrationPlan> {
    const {
      limit,
      only,
      onPlanned,
      onProgress,
      bulk = this.context.random.id(),
      ...author
    } = parseMigrationOptions(options);
    const { plan, records } = await this.#plannedMigration(request, { limit, only });
    const { steps, remaining, unreadable } = plan;
    onPlanned?.(steps.length);
    const planned = steps.map(({ name }) => ({ name, action: 'migrate' as const, record: records.get(name) }));
    const set = { id: bulk, kind: 'migration' as const, ...this.writer.author(author) };
    const listed = await this.sets.list(set, planned, author.by);
    const ended: MigrationStep[] = [];
    const end = (step: MigrationStep) => {
      ended.push(step);
      onProgress?.({ done: ended.length, total: steps.length, step });
    };
    await eachWhileAnswered([...steps.entries()], this.context, async ([index, step]) => {
      try {
        await this.#migrateOne(step, author, { set: bulk, listed: listed[index]! });
      } catch (error) {
        end({ ...step, outcome: 'failed', error: messageOf(error) });
        throw error;
      }
      end({ ...step, outcome: 'migrated' });
    });
    return { steps: ended.toSorted(byName), remaining: remaining + steps.length - ended.length, unreadable, bulk };
  }

  async changeAll(kind: 'pause' | 'resume', request: BulkRequest = {}, rewriting: Change): Promise<BulkResult> {
    const { names, only } = parseBulkRequest(request);
    const { records, named, unreadable } = await this.#selected({ names, only }, `to ${kind} many semaphores`);
    const isDue = ({ pause }: SemaphoreRecord) => (pause === undefined) === (kind === 'pause');
    const all = named.filter((name) => isDue(records.get(name)!));
    const result = await this.#changeEach(kind, { names: all, records }, request, () => rewriting);
    return { ...result, failed: [...unreadable, ...result.failed] };
  }

  /**
   * Takes the definitions of the code for the names that match. One that was removed comes back, too.
   *
   * @param isDue whether the record has to be changed
   * @throws NotInCodeError if none of the names matches
   */
  async resetAll(
    code: readonly CodeDefinition[],
    request: BulkRequest = {},
    isDue: (record: SemaphoreRecord, code: CodeDefinition) => boolean,
  ): Promise<BulkResult> {
    const { names, only = () => true } = parseBulkRequest(request);
    const byName = new Map(code.map((each) => [each.definition.name, each]));
    const seen = [...byName.keys()].filter(only);
    const named = await this.#inSlices(namesInPieces(names, seen), 'to reset many semaphores');
    if (names !== undefined && named.length === 0) throw new NotInCodeError(names);
    const wanted = new Set(named);
    const { unreadable } = await this.listing.listChangeable((name) => wanted.has(name));
    const records = new Map(named.map((name) => [name, unreadable.get(name) ?? this.recordOf(name)]));
    const all = named.filter((name) => {
      const record = records.get(name);
      return record instanceof Error || (record !== undefined && isDue(record, byName.get(name)!));
    });
    return this.#changeEach(
      'reset',
      { names: all, records },
      request,
      (name) =>
        (record, ...rest) =>
          adoptCode(record, byName.get(name)!, ...rest),
    );
  }

  /** Changes the first of the names, as many as the request allows, as one change set. */
  async #changeEach(
    kind: 'pause' | 'resume' | 'reset',
    { names: all, records }: Due,
    request: BulkRequest,
    rewritingOf: (name: string) => Change,
  ): Promise<BulkResult> {
    const {
      names: _,
      only: _only,
      limit,
      onPlanned,
      bulk = this.context.random.id(),
      ...author
    } = parseBulkRequest(request);
    const due = all.slice(0, limit);
    onPlanned?.(due.length);
    const set = { id: bulk, kind: 'bulk' as const, ...this.writer.author(author) };
    const ended: Ended = { done: [], failed: new Map() };
    let open = due.map((name) => ({ name, action: kind, record: records.get(name) }));
    for (let listings = 1; open.length > 0; listings++) {
      const changing = this.#listAndChange(set, open, {
        author,
        rewritingOf,
        ended,
        isLast: listings === MOST_LISTINGS,
      });
      const changed = await changing.catch((error: unknown) => {
        // The first listing had no change before it. Later, the names that are left are the rest for the next call.
        if (listings === 1 || !isStoreError(error)) throw error;
        return [];
      });
      open = changed.map(({ name, record }) => ({ name, action: kind, record }));
    }
    const remaining = all.length - ended.done.length - ended.failed.size;
    return { done: ended.done.toSorted(), failed: failuresOf(ended.failed), remaining, bulk };
  }

  /**
   * Lists changes, and makes them. A change is not made if another one changed the definition after the listing: an undo would
   * put back the listed state, and lose the other change.
   *
   * @param isLast whether such a change fails, in place of another listing
   * @returns these changes, with their present records
   */
  async #listAndChange(
    set: NewSet,
    planned: readonly PlannedChange[],
    { author, rewritingOf, ended, isLast }: Making,
  ): Promise<Changed[]> {
    const changed: Changed[] = [];
    const changes = await this.sets.list(set, planned, author.by);
    const failed = await eachWhileAnswered(changes, this.context, async (listed) => {
      const { name, action, change: id, part } = listed;
      const rewriting = rewritingOf(name);
      let isChanged = false;
      const other = await this.writer.write<Changed | undefined>(action, name, author, {
        rewriting: (record, ...rest) => {
          // The record is missing if the definition was removed a moment ago. Then there is nothing to change.
          const next = record && rewriting(record, ...rest);
          isChanged = next !== undefined && !isAsListed(listed, record);
          return isChanged ? undefined : next;
        },
        done: () => undefined,
        unchanged: (record) => (isChanged && record ? { name, record } : undefined),
        marks: { id, bulk: set.id, part },
      });
      if (!other) return void ended.done.push(name);
      const { revision, change } = other.record;
      if (isLast) throw new EditConflictError(name, listed.revision - 1, revision, change);
      changed.push(other);
    });
    for (const [{ name }, error] of failed) ended.failed.set(name, error);
    return changed;
  }

  async #migrateOne(
    step: MigrationStep,
    author: { by?: string; reason?: string },
    { set, listed }: { readonly set: string; readonly listed: ListedChange },
  ): Promise<void> {
    const options = { ...author, expectedRevision: step.revision };
    await this.writer.write<void>('migrate', step.name, options, {
      // The planned revision has a definition, and `expectedRevision` makes sure that the record has this revision.
      rewriting: (record, ...rest) => edit(record!, { ...intendedDefinition(record!)!, ...step.to }, ...rest),
      done: () => undefined,
      unchanged: () => undefined,
      marks: { id: listed.change, bulk: set, part: listed.part },
    });
  }

  /**
   * The semaphores to change. Leaves out the package's own, and names that only exist because of a permit, unless the
   * pattern is exactly that name. This node takes over the texts, so that each change starts from them.
   *
   * @throws NothingMatchesError: a mistyped pattern must not look like success
   */
  async #selected(
    { names, only = () => true }: Pick<BulkRequest, 'names' | 'only'>,
    subject: string,
  ): Promise<Selected> {
    const { records, unreadable, unreadableShards } = await this.listing.listChangeable(only, names);
    const defined = [...records].flatMap(([name, { definition }]) => (definition ? [name] : []));
    const named = await this.#inSlices(namesInPieces(names, defined), subject);
    const dark = await this.#inSlices(namesInPieces(names, unreadable.keys()), subject);
    const isOne = names !== undefined && (records.has(names) || unreadable.has(names));
    // A shard that can't be read may have names that match, unless the pattern is exactly a name that was found elsewhere.
    const faults = [...dark.map((name) => [name, unreadable.get(name)] as const), ...(isOne ? [] : unreadableShards)];
    if (names !== undefined && named.length + faults.length === 0) throw new NothingMatchesError(names);
    return { records, named, unreadable: failuresOf(faults) };
  }

  /** @throws InvalidOptionsError if matching all names takes too many steps */
  #inSlices<T>(work: Pieces<T>, subject: string): Promise<T> {
    return inSlices(work, this.context.nodeClock, { most: MOST_WORK, subject });
  }
}

function failuresOf(failed: Iterable<readonly [name: string, error: unknown]>): BulkResult['failed'] {
  return [...failed].map(([name, error]) => ({ name, error: messageOf(error) }));
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
