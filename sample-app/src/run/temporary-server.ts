import { accessSync, constants } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';

/** User and group of a process; empty: those of this process. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly owner?: Owner;
  /** Part of the line that the server writes when it takes connections. */
  readonly readyLine: string;
  /** Ends the server quickly, without waiting for its clients. */
  readonly stopSignal: NodeJS.Signals;
}

const LINES_KEPT = 20;

/** A server of this run, in a folder of its own. Both are gone after the disposal. */
export class TemporaryServer implements AsyncDisposable {
  /** Resolves when the process is gone, with the signal or exit code that ended it; never rejects. */
  readonly ended: Promise<string>;
  readonly #child;
  readonly #lastLines: string[] = [];

  private constructor(
    readonly folder: string,
    private readonly program: Program,
  ) {
    this.#child = execa(program.file, program.args, {
      ...program.owner,
      cwd: folder,
      // Ctrl-C must not reach it before the apps have released their permits.
      detached: true,
      stdin: 'ignore',
      all: true,
      buffer: false,
      reject: false,
      forceKillAfterDelay: 5000,
    });
    this.ended = this.#child.then(({ signal, exitCode, shortMessage }) =>
      signal === undefined && exitCode === undefined ? shortMessage! : (signal ?? `exit code ${exitCode}`),
    );
  }

  /**
   * Makes the folder, and starts the program that `prepare` makes ready there. Resolves when it takes connections.
   *
   * @throws with its last lines, if it ends before; nothing is left then
   */
  static async start(owner: Owner, prepare: (folder: string) => Promise<Program>): Promise<TemporaryServer> {
    const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-sample-'));
    try {
      if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid ?? owner.uid);
      const server = new TemporaryServer(folder, await prepare(folder));
      await server.#ready();
      return server;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async #ready(): Promise<void> {
    const { file, readyLine } = this.program;
    const isReady = new Promise<true>((resolve) => {
      createInterface({ input: this.#child.all }).on('line', (line) => {
        this.#lastLines.splice(0, this.#lastLines.length, ...[...this.#lastLines, line].slice(-LINES_KEPT));
        if (line.includes(readyLine)) resolve(true);
      });
    });
    const how = await Promise.race([isReady, this.ended]);
    if (how !== true) throw new Error(`${file} ended while it started (${how}):\n${this.#lastLines.join('\n')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill(this.program.stopSignal);
    await this.ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The first of these programs that is in the PATH, or in one of these folders. */
export function findProgram(names: readonly string[], folders: readonly string[] = []): string | undefined {
  const places = [...folders, ...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean)];
  return places.flatMap((place) => names.map((name) => join(place, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // it is not there
  }
}

/** A port of the loopback address that no program listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
