import { fileURLToPath } from 'node:url';
import { type Gatekeeper, type StoreDefinition, memory } from 'nestjs-gatekeeper';
import { startedNode } from '../../test/cli/memory-cluster.js';
import { NodeProcess } from '../processes/cluster/node-process.js';
import { until } from '../../test/support/apps.js';
import { type Console, type Host, TOKENS } from '../../test/console/consoles.js';

const NODE = fileURLToPath(new URL('other-node.mjs', import.meta.url));
const NIGHTLY = 'nightly-export';
const DEFINITIONS = [
  { name: NIGHTLY, groupPattern: 'production', duration: '10m' },
  { name: 'mailing', groupPattern: '.*', duration: '90s' },
  { name: 'report', groupPattern: 'production|dr-site', duration: '5m' },
];

/** The cluster in which the tasks of docs/operations.md are done: a node with a console, and one at another site. */
export interface Scene extends Console {
  /** A node in the group "production". */
  readonly node: Gatekeeper;
  /** Starts a process that runs the nightly export, and stops it with SIGSTOP. */
  freezeHolder(): Promise<void>;
}

/** @param start opens a console that is closed with the test */
export function useOperatorScene(start: (host: Host) => Promise<Console>): () => Promise<Scene> {
  const opened: AsyncDisposable[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((each) => each[Symbol.asyncDispose]())));

  return async () => {
    const store: StoreDefinition = memory();
    const console = await start({
      store,
      gatekeeper: { group: 'production', definitions: DEFINITIONS, heartbeat: 100, clockTolerance: 500 },
    });
    const elsewhere = await startedNode(store, { group: 'dr-site', acquirer: 'dr1', definitions: [], heartbeat: 100 });
    opened.push({ [Symbol.asyncDispose]: () => elsewhere.close() });
    const freezeHolder = async () => {
      const settings = {
        remote: { url: console.url, token: TOKENS.node },
        semaphore: NIGHTLY,
        gatekeeper: { group: 'production', acquirer: 'app2', heartbeat: '1s', definitions: DEFINITIONS },
      };
      const environment = { app: [NODE], command: ['env', `PAGE_NODE=${JSON.stringify(settings)}`] };
      const holder = new NodeProcess({ name: 'app2' } as ConstructorParameters<typeof NodeProcess>[0], environment);
      opened.push(holder);
      await holder.hears('running', {}, { since: 0 });
      holder.freeze();
    };
    return { ...console, node: console.gatekeeper as unknown as Gatekeeper, freezeHolder };
  };
}

/** The export failed, and the next time it was paused. */
async function pausedExport({ gatekeeper, get }: Scene): Promise<void> {
  await failedExport({ gatekeeper, get });
  await gatekeeper.definitions.pause(NIGHTLY, { by: 'bob', reason: 'ticket 4711' });
  await gatekeeper.run(NIGHTLY, () => undefined, { job: 'Jobs.export' });
  await until(async () => (await get('/api/history')).json.entries.length === 2);
}

async function failedExport({ gatekeeper, get }: Pick<Scene, 'gatekeeper' | 'get'>): Promise<void> {
  const fail = () => Promise.reject(new Error('disk full'));
  await gatekeeper.run(NIGHTLY, fail, { job: 'Jobs.export', atLeastFor: 0 }).catch(() => undefined);
  await until(async () => (await get('/api/jobs')).json.jobs.length === 1);
}

/** A colleague has edited the report. */
async function editedReport({ gatekeeper, get }: Scene): Promise<void> {
  await gatekeeper.definitions.edit('report', { permits: 7 }, { by: 'bob', reason: 'more load' });
  await until(async () => (await get('/api/audit')).json.entries.length === 1);
}

/** One semaphore was paused before, for another reason. */
async function pausedReport({ gatekeeper, get }: Scene): Promise<void> {
  await gatekeeper.definitions.pause('report', { by: 'bob', reason: 'broken' });
  await until(async () => (await get('/api/audit')).json.entries.length === 1);
}

/** Tasks of an operator that docs/operations.md describes, each with the situation that it begins in. */
export const OPERATOR_TASKS = {
  'Find out why a job does not run': pausedExport,
  'Pause everything for maintenance': pausedReport,
  'Move a zone and back exactly': async () => undefined,
  'Take a job from a frozen node': async ({ freezeHolder, get }: Scene) => {
    await freezeHolder();
    // A permit shows for 10 s that its holder lives.
    await until(async () => (await get('/api/semaphores')).json.semaphores.some(isHeldBySilent), 20_000);
  },
  'Undo a change': editedReport,
  'Failed runs of the last day with their errors': failedExport,
  // Clocks count as suspect until all have been read.
  'Check the health': ({ get }: Scene) => until(async () => (await get('/api/health')).json.status === 'healthy'),
  'Operate from a phone': pausedReport,
} satisfies Record<string, (scene: Scene) => Promise<void>>;

export type OperatorTask = keyof typeof OPERATOR_TASKS;

function isHeldBySilent({ holders }: { readonly holders: readonly { readonly isUnheard?: true }[] }): boolean {
  return holders.some(({ isUnheard }) => isUnheard);
}
