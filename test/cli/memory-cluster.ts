import {
  Gatekeeper,
  type GatekeeperOptions,
  type StoreDefinition,
  memory,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { eventually } from '../contract/eventually.js';
import { commandLine } from './command-line.js';

const SILENT = { log: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

export const DEFINITIONS = [
  { name: 'nightly-export', groupPattern: 'production', acquirerPattern: 'app[12]', duration: '10m' },
  { name: 'report', groupPattern: 'production', permits: 2, duration: '90s' },
];

export interface TestCluster {
  readonly store: StoreDefinition;
  readonly gatekeeper: ReturnType<typeof commandLine>;
  /** A node of the application, that has told the others that it lives and has loaded its definitions. */
  node(options?: Partial<GatekeeperOptions>): Promise<Gatekeeper>;
}

/** Each call gives a cluster in memory; its nodes are closed when the test ends. */
export function useMemoryCluster(): (store?: StoreDefinition) => TestCluster {
  const nodes: Gatekeeper[] = [];
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.close()));
  });
  return (store = memory()) => {
    const node = async (options: Partial<GatekeeperOptions> = {}) => {
      const started = await startedNode(store, options);
      nodes.push(started);
      return started;
    };
    return { store, node, gatekeeper: commandLine(store) };
  };
}

export async function startedNode(store: StoreDefinition, options: Partial<GatekeeperOptions>): Promise<Gatekeeper> {
  const settings = { group: 'production', acquirer: 'app1', definitions: DEFINITIONS, definitionsDelay: 0, ...options };
  const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ ...settings, store }), SILENT);
  await gatekeeper.start();
  await eventually('the node has loaded its definitions and is listed', async () => {
    const { semaphores } = await gatekeeper.state();
    const nodes = await gatekeeper.registry.nodes();
    return semaphores.length >= settings.definitions.length && nodes.some(isOne(gatekeeper));
  });
  return gatekeeper;
}

const isOne =
  ({ node }: Gatekeeper) =>
  ({ instance }: { instance: string }) =>
    instance === node.instance;
