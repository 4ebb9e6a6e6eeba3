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
import { NothingMatchesError, NotInCodeError } from './definitions.errors.js';
import type { Audit, NodeInfo } from '../activity/index.js';
import type { SemaphoreListing } from '../../core/cell/semaphore-listing.js';
import { type BulkRequest, type BulkResult, parseBulkRequest } from './bulk-request.js';
import type { DefinitionWriter, Marks } from './definition-writer.js';
import { eachWhileAnswered } from './each-while-answered.js';
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

interface Selected {
  readonly records: ReadonlyMap<string, SemaphoreRecord>;
  /** The names that match, in order. */
  readonly named: readonly string[];
  /** Matching names that can't be changed, because their records can't be read. */
  readonly unreadable: BulkResult['failed'];
}

/** Changes many definitions, each one separately, so that a failure does not stop the others. */
export class BulkChanges {
  constructor(
    private readonly listing: SemaphoreListing,
    private readonly writer: DefinitionWriter,
    private readonly audit: Audit,
    private readonly context: Context,
    private readonly nodes: () => Promise<readonly NodeInfo[]>,
    private readonly recordOf: (name: string) => SemaphoreRecord | undefined,
  ) {}

  async planMigration(request: MigrationRequest, { limit, only }: MigrationOptions = {}): Promise<MigrationPlan> {
    const parsed = parseMigrationRequest(request);
    parseMigrationOptions({ limit, only });
    const selecting = this.#selected({ names: parsed.names, only }, 'a migration');
    const [{ records, named, unreadable }, nodes] = await Promise.all([selecting, this.nodes()]);
    const { node } = this.context;
    const plan = planSteps(parsed, named, { records, nodes, node, now: timeOf(this.context) });
    const steps = await this.#inSlices(plan, 'a migration');
    const remaining = Math.max(0, steps.length - (limit ?? Infinity));
    return { steps: steps.slice(0, limit), remaining, unreadable };
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
    const { steps, remaining, unreadable } = await this.planMigration(request, { limit, only });
    onPlanned?.(steps.length);
    if (options.bulk !== undefined) await this.audit.goOn(bulk);
    const ended: MigrationStep[] = [];
    const end = (step: MigrationStep) => {
      ended.push(step);
      onProgress?.({ done: ended.length, total: steps.length, step });
    };
    await eachWhileAnswered(steps, this.context, async (step) => {
      try {
        await this.#migrateOne(step, author, { bulk });
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
    const result = await this.#changeEach(kind, all, request, () => rewriting);
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
    const all = named.filter((name) => {
      const record = this.recordOf(name);
      return unreadable.has(name) || (record !== undefined && isDue(record, byName.get(name)!));
    });
    return this.#changeEach(
      'reset',
      all,
      request,
      (name) =>
        (record, ...rest) =>
          adoptCode(record, byName.get(name)!, ...rest),
    );
  }

  /** Changes the first of the names, as many as the request allows, with one id in the audit log. */
  async #changeEach(
    kind: 'pause' | 'resume' | 'reset',
    all: readonly string[],
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
    if (request.bulk !== undefined) await this.audit.goOn(bulk);
    const done: string[] = [];
    const failed = await eachWhileAnswered(due, this.context, async (name) => {
      const rewriting = rewritingOf(name);
      await this.writer.write<void>(kind, name, author, {
        // The record is missing if the definition was removed a moment ago. Then there is nothing to change.
        rewriting: (record, ...rest) => record && rewriting(record, ...rest),
        done: () => undefined,
        unchanged: () => undefined,
        marks: { bulk },
      });
      done.push(name);
    });
    return {
      done: done.toSorted(),
      failed: failuresOf(failed),
      remaining: all.length - done.length - failed.size,
      bulk,
    };
  }

  async #migrateOne(step: MigrationStep, author: { by?: string; reason?: string }, marks: Marks): Promise<void> {
    const options = { ...author, expectedRevision: step.revision };
    await this.writer.write<void>('migrate', step.name, options, {
      // The planned revision has a definition, and `expectedRevision` makes sure that the record has this revision.
      rewriting: (record, ...rest) => edit(record!, { ...intendedDefinition(record!)!, ...step.to }, ...rest),
      done: () => undefined,
      unchanged: () => undefined,
      marks,
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
