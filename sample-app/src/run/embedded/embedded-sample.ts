import { memory } from 'nestjs-gatekeeper';
import { startArchive } from '../../archive/start-archive.js';
import type { Ports } from '../ports.js';
import { EmbeddedNode, type Shared } from './embedded-node.js';
import { type LogSource, NodeLog, runAs } from './node-log.js';

interface Settings {
  /** Takes whole lines. */
  readonly write: (text: string) => void;
  /** Further settings of the nodes, see Environment. */
  readonly variables?: NodeJS.ProcessEnv;
}

/** Three nodes of the app in this process, which share one `memory()`, and the archive. */
export class EmbeddedSample implements AsyncDisposable {
  /** By their places; a node that is down stays in its place until it is started again. */
  readonly nodes: EmbeddedNode[] = [];
  readonly #killed: Promise<void>[] = [];
  readonly #archive: { readonly url: string } & AsyncDisposable;
  readonly #shared: Shared;

  private constructor(archive: { readonly url: string } & AsyncDisposable, shared: Shared) {
    this.#archive = archive;
    this.#shared = shared;
  }

  /** Resolves when all nodes serve requests. @throws if one of them does not start; nothing is left then */
  static async start(ports: Ports, { write, variables = {} }: Settings): Promise<EmbeddedSample> {
    const log = new NodeLog(write);
    const archive = await startArchiveIn(log, ports.archive);
    const sample = new EmbeddedSample(archive, { store: memory(), archiveUrl: archive.url, log, variables });
    try {
      for (const [index, port] of ports.apps.entries())
        sample.nodes.push(await EmbeddedNode.start(port, index, sample.#shared));
      // Not before: lines of the first node must not come ahead of the introduction.
      log.begin();
      return sample;
    } catch (error) {
      await sample[Symbol.asyncDispose]();
      throw error;
    }
  }

  get archiveUrl(): string {
    return this.#archive.url;
  }

  /** Whether each message and page has a line in the log. Returns what it is now. */
  toggleDetails(): boolean {
    return this.#shared.log.toggleDetails();
  }

  get living(): EmbeddedNode[] {
    return this.nodes.filter(({ isUp }) => isUp);
  }

  /** Takes the node at this place down as `kill -9` does. */
  async kill(place: number): Promise<void> {
    const node = this.nodes[place]!;
    await node.kill();
    this.#killed.push(node.ended);
  }

  /** Starts a node that is down again, as a new instance with the same port and name. */
  async revive(place: number): Promise<void> {
    this.nodes[place] = await EmbeddedNode.start(this.nodes[place]!.port, place, this.#shared);
  }

  /** All nodes give their permits back and end, then the archive ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.living.map((node) => node.stop()), ...this.#killed]);
    await this.#archive[Symbol.asyncDispose]();
  }
}

/** It writes to the same log, by its own port. */
async function startArchiveIn(log: NodeLog, port: number): ReturnType<typeof startArchive> {
  const source: LogSource = { port, place: 0, state: 'booting' };
  const archive = await runAs(source, () => startArchive(port, log));
  source.state = 'serving';
  return archive;
}
