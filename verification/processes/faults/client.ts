import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { HistoryEntry } from '../../proof/history/history.js';
import { NodeProcess, type NodeSaid } from '../cluster/node-process.js';
import type { AppSettings } from '../../apps/settings.js';
import type { Place } from './network.js';
import type { Recorder } from './recorder.js';

/** ms. An app whose event loop has stopped never answers. */
const ANSWER = 20_000;

export interface ClientOptions {
  readonly place: Place;
  readonly settings: Omit<AppSettings, 'name'>;
  readonly recorder: Recorder;
  /** Whether its wall clock can be set while it runs. */
  readonly clock: boolean;
}

/** A seat among the clients: a contender sits there, and another one after its death, under another name. */
export class Client implements AsyncDisposable {
  #process?: NodeProcess;
  #wake?: Socket;
  #starts = 0;
  readonly #past: NodeProcess[] = [];

  constructor(
    readonly seat: string,
    private readonly options: ClientOptions,
  ) {}

  /** Of the process that sits here now. */
  get name(): string {
    return `${this.seat}.${this.#starts}`;
  }

  get place(): Place {
    return this.options.place;
  }

  get isRunning(): boolean {
    return this.#process?.isRunning ?? false;
  }

  async start(): Promise<void> {
    this.#starts++;
    const { settings, place, clock } = this.options;
    if (clock) await this.setClock('+0s');
    const contention = settings.contention && { ...settings.contention, seed: this.#seed() };
    this.#process = await NodeProcess.start(
      { ...settings, contention, name: this.name },
      {
        command: place.command,
        clock: clock ? { offsetFile: this.#clockFile } : undefined,
        onSaid: (said) => this.#heard(said),
      },
    );
    this.#past.push(this.#process);
    this.#wake = connect(this.#socket('wake')).on('error', () => {});
    await once(this.#wake, 'connect');
  }

  async kill(): Promise<void> {
    if (!this.isRunning) return;
    this.options.recorder.outside(this.name, { event: 'killed' });
    await this.#process!.kill();
    await this.#leave();
  }

  /** As a new version of an application is rolled out. */
  async restart(): Promise<void> {
    this.options.recorder.outside(this.name, { event: 'handing-over', how: 'shutdown' });
    this.#process!.signal('SIGTERM');
    await this.#process!.ended;
    this.options.recorder.outside(this.name, { event: 'killed' });
    await this.#leave();
    await this.start();
  }

  freeze(): void {
    this.options.recorder.outside(this.name, { event: 'frozen' });
    this.#process!.freeze();
  }

  /** When the process continues, data that arrived meanwhile wait in the kernel and are read before any timer fires. */
  thaw(): void {
    this.#wake!.write('are you awake?');
    this.options.recorder.outside(this.name, { event: 'thawed' });
    this.#process!.thaw();
  }

  /** @param offset as libfaketime writes it: "+600s" */
  async setClock(offset: string): Promise<void> {
    await writeFile(this.#clockFile, offset);
  }

  /** Asks the app itself, whose network may be unreachable from here. */
  async ask(method: 'GET' | 'PUT', path: string): Promise<unknown> {
    const signal = AbortSignal.timeout(ANSWER);
    const sent = request({ socketPath: this.#socket('http'), method, path, agent: false, signal }).end();
    const [answer] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    const body = await text(answer);
    if (answer.statusCode! >= 400) throw new Error(`${method} ${path} on ${this.name}: ${answer.statusCode} ${body}`);
    return JSON.parse(body);
  }

  /** Complaints that no healthy process causes: unhandled errors, and an unexpected end. */
  get faults(): string[] {
    return this.#past.flatMap((each) => each.all('fault').map((said) => `${each.name}: ${JSON.stringify(said)}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wake?.destroy();
    await this.#process?.[Symbol.asyncDispose]();
  }

  async #leave(): Promise<void> {
    this.#wake?.destroy();
    // A socket outlives a process that was killed.
    await Promise.all(['wake', 'http'].map((kind) => rm(this.#socket(kind), { force: true })));
  }

  #heard(said: NodeSaid): void {
    if (said.event !== 'history') return;
    const entry = said['entry'] as object;
    this.options.recorder.add({ at: said.at, process: said.node, ...entry } as HistoryEntry);
  }

  #socket(kind: string): string {
    return join(this.options.settings.sockets!, `${this.name}.${kind}`);
  }

  get #clockFile(): string {
    return join(this.options.settings.sockets!, `${this.seat}.clock`);
  }

  #seed(): number {
    return this.options.settings.contention!.seed + 1000 * this.#starts;
  }
}
