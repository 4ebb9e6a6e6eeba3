import type { LogLevel } from '@nestjs/common';
import { startArchive } from '../archive/start-archive.js';
import { FAULTS } from '../short-log.js';
import { AppProcess } from './app-process.js';
import type { ControlledSample } from './controls.js';
import type { SharedStore } from './shared-store.js';
import { endOf } from './texts.js';

const LINES: readonly LogLevel[] = ['log', ...FAULTS];

/** What the nodes share. */
interface Shared {
  readonly store: SharedStore;
  readonly archive: Awaited<ReturnType<typeof startArchive>>;
}

interface Settings {
  /** Takes whole lines. */
  readonly write: (text: string) => void;
  /** Ends all nodes. */
  readonly stop: AbortSignal;
}

/** Three nodes of the app, each in a process of its own. */
export class Sample implements ControlledSample, AsyncDisposable {
  /** By their places; a node that has ended stays in its place until it is started again. */
  readonly nodes: AppProcess[];
  readonly #shared: Shared;
  readonly #settings: Settings;
  #levels: readonly LogLevel[] = FAULTS;

  /** Starts one node for each port. @param stop of the settings is to be aborted before the disposal */
  constructor(ports: readonly number[], shared: Shared, settings: Settings) {
    this.#shared = shared;
    this.#settings = settings;
    this.nodes = ports.map((port, place) => this.#launch(port, place));
  }

  get store(): SharedStore {
    return this.#shared.store;
  }

  get archiveUrl(): string {
    return this.#shared.archive.url;
  }

  /** Resolves when all nodes serve requests. @throws if one of them ended before */
  async ready(): Promise<void> {
    await Promise.all(this.nodes.map(({ ready }) => ready));
  }

  /** From now on runs have lines. */
  begin(): Promise<void> {
    return this.#write(LINES);
  }

  /** Whether each message that was delivered and each page that was archived has a line. Returns what it is now. */
  async toggleDetails(): Promise<boolean> {
    const isOn = !this.#levels.includes('verbose');
    await this.#write(isOn ? ['verbose', ...LINES] : LINES);
    return isOn;
  }

  /** Starts a node that has ended again, as a new instance with the same port and name. @throws if it ends at once */
  async revive(place: number): Promise<void> {
    const node = this.#launch(this.nodes[place]!.port, place);
    this.nodes[place] = node;
    await node.ready;
    await node.write(this.#levels);
  }

  /** Resolves when all nodes have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(({ ended }) => ended));
  }

  #launch(port: number, place: number): AppProcess {
    const { store, archive } = this.#shared;
    const { stop, write } = this.#settings;
    const node = new AppProcess(port, place, { ...store.variables, ARCHIVE_URL: archive.url }, stop);
    const ended = node.ready.then(() => node.ended);
    // The end of one node is no reason to end the others: it is what the sample is there to show.
    void ended.then(
      (how) => stop.aborted || write(endOf(node, how, place)),
      () => undefined, // The caller that waits for its start has the error.
    );
    return node;
  }

  async #write(levels: readonly LogLevel[]): Promise<void> {
    this.#levels = levels;
    await Promise.all(this.nodes.filter(({ isUp }) => isUp).map((node) => node.write(levels)));
  }
}
