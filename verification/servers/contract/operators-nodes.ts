import {
  type AuditEntry,
  Gatekeeper,
  type GatekeeperEvent,
  type GatekeeperOptions,
  type StoreDefinition,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/index.js';
import type { RunRequestRecords } from '../../../lib/core/permits/by-hand/run-request-records.js';
import { FEW_SHARDS } from '../../../test/support/born.js';
import { openEnd } from '../../../test/support/nodes.js';
import { eventually } from '../../../test/contract/eventually.js';

const SILENT = { log() {}, warn() {}, error() {}, debug() {} };
/** A busy machine is no outage. */
const TIMES = { definitionsDelay: 0, callTimeout: 10_000, heartbeat: 500 };

/** A node on a store under test. */
export interface OperatorsNode {
  readonly gatekeeper: Gatekeeper;
  readonly events: readonly GatekeeperEvent[];
}

/** A job that a node can run by hand. */
export interface HandJob {
  readonly semaphore: string;
  readonly job: string;
  readonly work: () => unknown;
}

/** Nodes on one store. They are closed after the test. */
export class OperatorsNodes {
  store?: StoreDefinition;
  readonly #nodes: OperatorsNode[] = [];

  constructor() {
    afterEach(async () => {
      await Promise.all(this.#nodes.splice(0).map(({ gatekeeper }) => gatekeeper.close()));
    });
  }

  /** Two nodes that define these names. */
  async two(names: readonly string[], options: Partial<GatekeeperOptions> = {}, jobs: readonly HandJob[] = []) {
    return Promise.all(['one', 'other'].map((acquirer) => this.start(acquirer, names, options, jobs))) as Promise<
      [OperatorsNode, OperatorsNode]
    >;
  }

  async start(
    acquirer: string,
    names: readonly string[],
    options: Partial<GatekeeperOptions> = {},
    jobs: readonly HandJob[] = [],
  ): Promise<OperatorsNode> {
    const definitions = names.map((name) => ({ name, duration: '10s' }));
    const given = { ...TIMES, store: this.store!, acquirer, definitions, ...options };
    const gatekeeper = new Gatekeeper(parseGatekeeperOptions(given), SILENT, { shards: FEW_SHARDS });
    const events: GatekeeperEvent[] = [];
    gatekeeper.events$.subscribe((event) => events.push(event));
    const node = { gatekeeper, events };
    this.#nodes.push(node);
    gatekeeper.registry.jobs = () => jobs.map(({ semaphore, job }) => ({ semaphore, job, runNow: 'yes' }));
    await gatekeeper.start();
    await gatekeeper.ready({ timeout: '60s' });
    partsOf(gatekeeper).runRequestHandler.serve(
      jobs.map(({ semaphore, job, work }) => ({
        semaphore,
        job,
        call: () => gatekeeper.run(semaphore, work, { job }),
      })),
    );
    return node;
  }
}

/** Lets all nodes get a permit for a run by hand before the first of them takes the request. */
export function meetBeforeTaking(nodes: readonly OperatorsNode[]): void {
  const all = openEnd();
  let count = 0;
  for (const { gatekeeper } of nodes) {
    const { requests } = partsOf(gatekeeper).runRequestHandler as unknown as { requests: RunRequestRecords };
    const claim = requests.claim.bind(requests);
    requests.claim = async (...request) => {
      if (++count === nodes.length) all.end();
      await all.work();
      return claim(...request);
    };
  }
}

/** The names that are paused, among those with a prefix. */
export async function pausedWith(prefix: string, { gatekeeper }: OperatorsNode): Promise<string[]> {
  const { semaphores } = await gatekeeper.state();
  return semaphores.filter(({ name, pause }) => name.startsWith(prefix) && pause).map(({ name }) => name);
}

/** The newest entry of a name in the audit log that `isWanted`, once it is written. */
export function entryOf(
  name: string,
  { gatekeeper }: OperatorsNode,
  isWanted: (entry: AuditEntry) => boolean = () => true,
): Promise<AuditEntry> {
  return eventually(`an entry about ${name}`, async () => {
    const entries = await gatekeeper.audit.read(500);
    return entries.findLast((entry) => entry.semaphore === name && isWanted(entry)) ?? false;
  });
}
