import type {
  AuditEntry,
  BulkResult,
  DefinitionEdit,
  DefinitionState,
  Explanation,
  HistoryEntry,
  JournalQuery,
  MigrationPlan,
  MigrationRequest,
  NodeOverview,
} from '../../gatekeeper/index.js';
import type { SessionAnswer } from '../../console/api/index.js';
import type { SemaphoreDefinitionInput } from '../../semaphores/index.js';
import { eventsIn } from '../../stores/remote/event-stream.js';
import { CommandFailure, EXIT } from '../exit-code.js';
import type { BulkCall, Grounds, Operator, Overview } from '../operator.js';
import { RestClient, type RestOptions } from './rest-client.js';

/** A change of many takes so many times longer than one. */
const BULK_PATIENCE = 10;

/** Over the console's HTTP API. Who changes what is known there by the token. */
export class RestOperator implements Operator {
  readonly #client: RestClient;

  constructor(options: RestOptions) {
    this.#client = new RestClient(options);
  }

  get target(): string {
    return this.#client.target;
  }

  async overview(): Promise<Overview> {
    const overview = await this.#client.ask<Overview>(['semaphores']);
    await this.#assertFresh();
    return overview;
  }

  explain(name: string): Promise<Explanation> {
    return this.#client.ask(['explain', name]);
  }

  define(input: SemaphoreDefinitionInput, { reason }: Grounds): Promise<DefinitionState> {
    return this.#client.ask(['semaphores'], { method: 'POST', body: { ...input, reason } });
  }

  edit(name: string, changes: DefinitionEdit, grounds: Grounds): Promise<DefinitionState> {
    return this.#client.ask(['semaphores', name], { method: 'PATCH', body: { ...changes, ...grounds } });
  }

  pause(name: string, grounds: Grounds): Promise<DefinitionState> {
    return this.#change(name, 'pause', grounds);
  }

  resume(name: string, grounds: Grounds): Promise<DefinitionState> {
    return this.#change(name, 'resume', grounds);
  }

  reset(name: string, grounds: Grounds): Promise<DefinitionState> {
    return this.#change(name, 'reset', grounds);
  }

  async remove(name: string, { reason }: Grounds): Promise<boolean> {
    const request = { method: 'DELETE' as const, body: { reason } };
    return (await this.#client.ask<{ removed: boolean }>(['semaphores', name], request)).removed;
  }

  async revoke(name: string, permitId: string, { reason }: Grounds): Promise<boolean> {
    return (await this.#change<{ revoked: boolean }>(name, 'revoke', { permitId, reason })).revoked;
  }

  pauseAll(call: BulkCall): Promise<BulkResult> {
    return this.#bulk('pause', call);
  }

  resumeAll(call: BulkCall): Promise<BulkResult> {
    return this.#bulk('resume', call);
  }

  planMigration(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan> {
    return this.#migrate(request, call, true);
  }

  migrate(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan> {
    return this.#migrate(request, call, false);
  }

  async nodes(): Promise<{ now: number; nodes: NodeOverview[] }> {
    const answer = await this.#client.ask<{ now: number; nodes: NodeOverview[] }>(['nodes']);
    await this.#assertFresh();
    return answer;
  }

  async history(query: JournalQuery): Promise<HistoryEntry[]> {
    return (await this.#client.ask<{ entries: HistoryEntry[] }>(['history'], { query: { ...query } })).entries;
  }

  async audit(query: JournalQuery): Promise<AuditEntry[]> {
    return (await this.#client.ask<{ entries: AuditEntry[] }>(['audit'], { query: { ...query } })).entries;
  }

  async hints(onHint: () => void, signal: AbortSignal): Promise<void> {
    for await (const _event of eventsIn(await this.#client.stream(['events'], signal))) onHint();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }

  /**
   * A node that can't ask its store answers with what it knew last: on its page that is shown as such, but nobody may
   * take it for the present state, or save it as a dump.
   *
   * @throws CommandFailure
   */
  async #assertFresh(): Promise<void> {
    const { store } = await this.#client.ask<SessionAnswer>(['session']);
    if (store.connected && store.problem === undefined) return;
    const why = `the node that answers at ${this.target} can't ask its store (${store.problem ?? 'not connected'})`;
    throw new CommandFailure(EXIT.unreachable, `${why}: see what ails the store, or ask another node`);
  }

  #change<T = DefinitionState>(name: string, verb: string, body: object): Promise<T> {
    return this.#client.ask(['semaphores', name, verb], { method: 'POST', body });
  }

  #migrate(
    { names, group, to }: MigrationRequest,
    { reason, limit }: BulkCall,
    dryRun: boolean,
  ): Promise<MigrationPlan> {
    return this.#bulk('migrations', { names, group, to, dryRun, limit, reason });
  }

  #bulk<T>(path: string, body: object): Promise<T> {
    return this.#client.ask([path], { method: 'POST', body, patience: BULK_PATIENCE });
  }
}
