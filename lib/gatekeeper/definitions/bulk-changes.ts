import {
  type DefinitionChange,
  InvalidOptionsError,
  type SemaphoreRecord,
  type View,
  edit,
  intendedDefinition,
  isOwnName,
} from '../../semaphores/index.js';
import { abreast } from '../concurrency/abreast.js';
import { type Context, timeOf } from '../context/context.js';
import { listRecords } from '../records/list-records.js';
import type { NodeInfo } from '../nodes/index.js';
import { isUnreadable } from '../records/known-record.js';
import { KEY_PREFIX, type RecordKeeper } from '../records/record-keeper.js';
import { type BulkRequest, type BulkResult, parseBulkRequest } from './bulk-request.js';
import type { DefinitionWriter } from './definition-writer.js';
import { type MigrationPlan, type MigrationStep, nameMatcher, planSteps } from './migration.js';
import {
  type MigrationOptions,
  type MigrationRequest,
  parseMigrationOptions,
  parseMigrationRequest,
} from './migration-request.js';

/** Changes what is there, or gives undefined when it is so already. */
type Change = (
  record: SemaphoreRecord,
  change: DefinitionChange,
  view: View,
  nonce: string,
) => SemaphoreRecord | undefined;

/** Changes of many definitions: each by itself, so that one that fails keeps nothing else from being done. */
export class BulkChanges {
  constructor(
    private readonly keeperOf: (name: string) => RecordKeeper,
    private readonly writer: DefinitionWriter,
    private readonly context: Context,
    private readonly nodes: () => Promise<readonly NodeInfo[]>,
  ) {}

  async planMigration(request: MigrationRequest, { limit }: MigrationOptions = {}): Promise<MigrationPlan> {
    const parsed = parseMigrationRequest(request);
    parseMigrationOptions({ limit });
    const [records, nodes] = await Promise.all([this.#records(), this.nodes()]);
    const { node } = this.context;
    const steps = planSteps(parsed, { records, nodes, node, now: timeOf(this.context) });
    return { steps: steps.slice(0, limit), remaining: Math.max(0, steps.length - (limit ?? Infinity)) };
  }

  async migrate(request: MigrationRequest, options: MigrationOptions = {}): Promise<MigrationPlan> {
    const { limit, onProgress, ...author } = parseMigrationOptions(options);
    const { steps, remaining } = await this.planMigration(request, { limit });
    const ended = [...steps];
    let done = 0;
    await abreast([...steps.keys()], async (index) => {
      const step = await this.#migrateOne(steps[index]!, author);
      ended[index] = step;
      onProgress?.({ done: ++done, total: steps.length, step });
    });
    return { steps: ended, remaining };
  }

  async changeAll(kind: 'pause' | 'resume', request: BulkRequest = {}, rewriting: Change): Promise<BulkResult> {
    const { names, limit, ...author } = parseBulkRequest(request);
    const isNamed = nameMatcher(names);
    const isDue = ({ definition, pause }: SemaphoreRecord) =>
      definition && (pause === undefined) === (kind === 'pause');
    const all = [...(await this.#records())].flatMap(([name, record]) =>
      isNamed(name) && isDue(record) ? [name] : [],
    );
    const selected = all.toSorted().slice(0, limit);
    const failed = new Map<string, string>();
    await abreast(selected, async (name) => {
      const change = this.writer.write(kind, name, author, {
        // Removed a moment ago: nothing is left to be changed.
        rewriting: (record, ...rest) => record && rewriting(record, ...rest),
        done: () => undefined,
        unchanged: () => undefined,
      });
      await change.catch((error: unknown) => failed.set(name, messageOf(error)));
    });
    return {
      done: selected.filter((name) => !failed.has(name)),
      failed: [...failed].map(([name, error]) => ({ name, error })),
      remaining: all.length - selected.length,
    };
  }

  async #migrateOne(step: MigrationStep, author: { by?: string; reason?: string }): Promise<MigrationStep> {
    const options = { ...author, expectedRevision: step.revision };
    try {
      await this.writer.write<void>('migrate', step.name, options, {
        // With the revision that was planned for there is a definition.
        rewriting: (record, ...rest) => edit(record!, { ...intendedDefinition(record!)!, ...step.to }, ...rest),
        done: () => undefined,
        unchanged: () => undefined,
      });
      return { ...step, outcome: 'migrated' };
    } catch (error) {
      return { ...step, outcome: 'failed', error: messageOf(error) };
    }
  }

  /**
   * Those that can be read: nobody can change the others, and who looks at the state is told of them. What is read here
   * is news for this node, too, so that each change begins from it. The package's own semaphores are left out.
   */
  async #records(): Promise<Map<string, SemaphoreRecord>> {
    const texts = await listRecords(this.context);
    const records = new Map<string, SemaphoreRecord>();
    for (const [key, text] of texts) {
      const name = key.slice(KEY_PREFIX.length);
      const record = isOwnName(name) ? undefined : this.#recordOf(name, text);
      if (record) records.set(name, record);
    }
    return records;
  }

  #recordOf(name: string, text: string): SemaphoreRecord | undefined {
    try {
      const keeper = this.keeperOf(name);
      keeper.hear(text);
      return keeper.known;
    } catch (error) {
      // The record of a newer version or of nobody, or under a name that nothing can have.
      if (isUnreadable(error) || error instanceof InvalidOptionsError) return undefined;
      throw error;
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
