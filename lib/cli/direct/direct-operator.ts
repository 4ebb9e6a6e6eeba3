import type { Caller, Limits } from '../../console/api/caller.js';
import { checkInput } from '../../console/api/check-input.js';
import { stalePart } from '../../core/context/stale.js';
import type { LogLine } from '../../core/context/context.js';
import { TASK_PREFIX, omitUndefined } from '../../core/decision/index.js';
import { type StoreDefinition, StoreUnavailableError } from '../../core/store/index.js';
import type { GatekeeperLogger, MaybeStale, Parts } from '../../gatekeeper/index.js';
// Not from the index, because that also loads Nest, which takes long.
import { ALLOCATION_OPERATIONS } from '../../console/api/allocation.js';
import { ALERT_OPERATIONS } from '../../console/api/alerts.js';
import { CLUSTER_OPERATIONS } from '../../console/api/cluster.js';
import { SEMAPHORE_OPERATIONS } from '../../console/api/semaphores.js';
import { parseGatekeeperOptions } from '../../gatekeeper/gatekeeper-options.js';
import { Gatekeeper } from '../../gatekeeper/gatekeeper.js';
import { partsOf } from '../../gatekeeper/parts.js';
import type { Call, Operator } from '../operator/operator.js';
import { CommandFailure, EXIT } from '../options/exit-code.js';
import { ConnectedStore } from './connected-store.js';

/** Operations that need a node of the application, with the reason. */
const NEED_A_NODE: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  ...Object.values(ALERT_OPERATIONS).map(
    (each) => [each, 'only a node of the application has receivers of alerts: ask one with --url'] as const,
  ),
  ...Object.values(ALLOCATION_OPERATIONS).map(
    (each) => [each, 'only a node of the group knows its resources: ask one with --url'] as const,
  ),
]);

/** Operations whose answers say why nothing is granted. During an outage they are complete without a last known state. */
const ABOUT_OUTAGES: ReadonlySet<unknown> = new Set([CLUSTER_OPERATIONS.health, SEMAPHORE_OPERATIONS.explain]);

export interface DirectOptions {
  readonly store: StoreDefinition;
  /** Name of the target, for people. */
  readonly target: string;
  /** The author of changes, shown in the audit log. */
  readonly by: string;
  /** Maximum time in ms for the connection, and then for each call. */
  readonly timeout: number;
  /** The application's clockTolerance, in ms. Default: the gatekeeper's default. */
  readonly clockTolerance?: number | undefined;
  /** The node for which `explain` answers. */
  readonly group?: string | undefined;
  readonly acquirer?: string | undefined;
  readonly logger: GatekeeperLogger;
}

/**
 * Operates directly on the store: makes the operations in this process. It acts like a node, but has no code and no registry
 * entry, and never acquires a permit.
 */
export class DirectOperator implements Operator {
  readonly target: string;
  readonly timeout: number;
  readonly #store: ConnectedStore;
  readonly #gatekeeper: Gatekeeper;
  readonly #parts: Parts;
  readonly #caller: Caller;
  #isConnected = false;

  private constructor({ store, target, by, timeout, logger, ...rest }: DirectOptions) {
    this.target = target;
    this.timeout = timeout;
    this.#store = new ConnectedStore(store);
    const options = {
      ...omitUndefined(rest),
      store: this.#store,
      callTimeout: timeout,
      heartbeat: 0,
      history: false,
      // This process has not watched the clocks, and may have another tolerance than the application. So its writes
      // must not drop expired permits.
      strictStart: true,
    };
    const settings = parseGatekeeperOptions(options);
    this.#gatekeeper = new Gatekeeper(settings, this.#onceConnected(logger), { isTransient: true });
    this.#parts = partsOf(this.#gatekeeper);
    const { signal } = new AbortController();
    this.#caller = { user: by, role: 'define', sees: undefined, limits: unlimited(this.#parts), signal };
  }

  /** @throws CommandFailure if the store can't be reached within `timeout` */
  static async open(options: DirectOptions): Promise<DirectOperator> {
    const operator = new DirectOperator(options);
    try {
      await operator.#gatekeeper.start();
      await operator.#store.connected(options.target, options.timeout);
      operator.#isConnected = true;
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Logs nothing before the store is connected: if that fails, the error of the command says why. */
  #onceConnected(logger: GatekeeperLogger): GatekeeperLogger {
    const from = (level: keyof GatekeeperLogger) => (message: LogLine) => {
      if (this.#isConnected) logger[level](message);
    };
    return { log: from('log'), warn: from('warn'), error: from('error'), debug: from('debug') };
  }

  /** @throws StoreUnavailableError if the semaphores can't be read: this process has no last known state to show */
  readonly call: Call = async (operation, { params = {}, query = {}, body = {} } = {}) => {
    const lack = NEED_A_NODE.get(operation);
    if (lack !== undefined) throw new CommandFailure(EXIT.usage, lack);
    const texts = Object.entries(omitUndefined(query)).map(([name, value]) => [name, String(value)] as const);
    const sent = { params, query: Object.fromEntries(texts), body: omitUndefined(body as object) };
    const answer = await operation.run(this.#parts, await checkInput(operation, sent), this.#caller);
    const records = stalePart(answer as MaybeStale, 'records');
    if (records && !ABOUT_OUTAGES.has(operation))
      throw new StoreUnavailableError(`nothing is granted: ${records.sentence}`);
    return answer;
  };

  async hints(onHint: () => void, signal: AbortSignal): Promise<void> {
    const end = await this.#store.watch(onHint);
    onHint();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await end();
  }

  /** Also writes the audit entries that are not written yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gatekeeper.close();
  }
}

/** One person at a terminal needs no limits. The audit log names the tasks that were submitted. */
function unlimited({ audit }: Parts): Limits {
  const none = () => undefined;
  return {
    changes: {
      noteOne: none,
      noteTaskCall: none,
      ofMany: (_caller, change) => change(none),
      ofPause: (_caller, pause) => pause(none),
    },
    taskCalls: {
      note: (action, { user: by }, type, { first: task, ...counted }) =>
        audit.note({ action, semaphore: TASK_PREFIX + type, by, ...counted, task }),
    },
    noteTest: none,
    waiting: (_kind, _caller, _wait, work) => work(),
  };
}
