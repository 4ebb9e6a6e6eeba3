import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { execa } from 'execa';
import type { GatekeeperState } from 'nestjs-gatekeeper';
import { freePort } from '../../../lib/testing/hazelcast/free-port.js';
import { eventually } from '../../../test/contract/eventually.js';
import { ROOT, compiledPath } from '../../../tools/test/compile.mjs';
import type { DeliveryState } from './queue-claims.js';

/** ms by which all may come later on a machine where many processes wait for a processor. */
export const BUSY = 20_000;
const MOST_STARTS = 3;
const PORT_IS_TAKEN = /EADDRINUSE|[Aa]ddress already in use/;
const RUNNER = compiledPath(join(ROOT, 'sample-app/src/run.ts'));

/** One line of an app's output, and when it came, by the monotonic clock in ms. */
export interface AppLine {
  readonly port: number;
  readonly text: string;
  readonly at: number;
}

/** How it is started, when otherwise than on this machine as it is. */
export interface Started {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** The key after which each delivered message and each page of the report has a line. */
export const MORE_LINES = 'v';

/** The choice of a store that is a real server. */
export const ON_HAZELCAST: Started = { args: ['--store', 'hazelcast'] };

/** `npm run sample` without its compilation, on ports of its own, as a person at its terminal sees it. */
export class RunningSample {
  readonly ports: readonly number[];
  readonly #runner;
  readonly #lines: { text: string; at: number }[] = [];

  constructor(ports: readonly number[], { args = [], env = process.env }: Started = {}) {
    this.ports = ports;
    // Not as execaNode: that would put Node's own folder into the PATH, where Java may lie, too.
    this.#runner = execa(process.execPath, [RUNNER, ...args], {
      extendEnv: false,
      env: {
        ...env,
        SAMPLE_PORTS: ports.join(','),
        NO_COLOR: '1',
        // Else it would use a cluster that is there, whose records of former runs would be in force.
        HAZELCAST_MEMBERS: '',
      },
      all: true,
      buffer: false,
      reject: false,
      forceKillAfterDelay: false,
    });
    createInterface({ input: this.#runner.all }).on('line', (text) =>
      this.#lines.push({ text, at: performance.now() }),
    );
  }

  /**
   * Starts it, and waits until it says how to try it.
   *
   * @throws with all that it said, when it ends before or takes too long; nothing is left then
   */
  static async start(started?: Started): Promise<RunningSample> {
    for (let attempt = 1; ; attempt++) {
      const sample = await RunningSample.begin([], started);
      try {
        await sample.#ready();
        return sample;
      } catch (cause) {
        await sample[Symbol.asyncDispose]();
        // Another process may take a port between the look and the start.
        if (attempt < MOST_STARTS && PORT_IS_TAKEN.test(sample.output)) continue;
        throw new Error(`The sample did not start. It said:\n${sample.output}`, { cause });
      }
    }
  }

  async #ready(): Promise<void> {
    const isReady = () => /Ctrl-C/.test(this.output);
    const ended = this.exitCode().then((code) => Promise.reject(new Error(`ended with exit code ${code}`)));
    await Promise.race([eventually('the sample says how to try it', isReady, 60_000), ended]);
  }

  /** Starts it on free ports, but for those that a test wants taken. */
  static async begin(taken: readonly number[] = [], started?: Started): Promise<RunningSample> {
    const ports = new Set<number>();
    while (ports.size < 3) ports.add(await freePort('127.0.0.1', ports));
    return new RunningSample([...taken, ...ports].slice(0, 3), started);
  }

  get output(): string {
    return this.#lines.map(({ text }) => text).join('\n');
  }

  /** Lines of the apps since `from` (see {@link AppLine.at}). */
  lines(pattern: RegExp, from = 0): AppLine[] {
    return this.#lines.flatMap(({ text, at }) => {
      const [, port, said = ''] = /^(\d+) \| (.*)$/.exec(text) ?? [];
      return port && at >= from && pattern.test(said) ? [{ port: Number(port), text: said, at }] : [];
    });
  }

  /**
   * Waits for the next such line that comes from one of the ports.
   *
   * @param within ms in which it comes on a quiet machine: {@link BUSY} is added
   */
  nextLine(pattern: RegExp, within: number, ports = this.ports): Promise<AppLine> {
    const from = performance.now();
    const find = () => this.lines(pattern, from).find(({ port }) => ports.includes(port)) ?? false;
    return eventually(`${ports.join(' or ')} says ${pattern}`, find, within + BUSY);
  }

  get archiveUrl(): string {
    return /archive +(http:\S+)/.exec(this.output)![1]!;
  }

  /** The pid that it showed last for the node on a port. */
  pid(port: number): number {
    return Number([...this.output.matchAll(new RegExp(`app-${port} .*pid (\\d+)$`, 'gm'))].at(-1)?.[1]);
  }

  /** Presses a key, as a person does at its terminal. */
  press(key: string): void {
    this.#runner.stdin.write(key);
  }

  /** Every pid that it shows, the member's included, and its own. */
  get pids(): number[] {
    return [this.#runner.pid!, ...[...this.output.matchAll(/ pid (\d+)$/gm)].map(([, pid]) => Number(pid))];
  }

  others(port: number): number[] {
    return this.ports.filter((each) => each !== port);
  }

  async state(port: number): Promise<GatekeeperState> {
    return (await fetch(`http://127.0.0.1:${port}/`)).json() as Promise<GatekeeperState>;
  }

  /** The queues of messages, as a node sees them. */
  /** @throws Error if the node can't answer, for example because the store took too long */
  async delivery(port: number): Promise<DeliveryState> {
    const response = await fetch(`http://127.0.0.1:${port}/delivery`);
    if (!response.ok) throw new Error(`app-${port} answers ${response.status}: ${await response.text()}`);
    return response.json() as Promise<DeliveryState>;
  }

  post(port: number, path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST' });
  }

  /** Ends the sample like Ctrl-C. @returns the exit code */
  async interrupt(): Promise<number | undefined> {
    this.#runner.kill('SIGINT');
    return this.exitCode();
  }

  /** Ends the launcher like `kill -9`. */
  async killLauncher(): Promise<void> {
    this.#runner.kill('SIGKILL');
    await this.exitCode();
  }

  /** As when the program behind a pipe, or the process that started it, has ended. */
  stopReading(): void {
    this.#runner.stdout.destroy();
    this.#runner.stderr.destroy();
  }

  async exitCode(): Promise<number | undefined> {
    return (await this.#runner).exitCode;
  }

  /** For when a test failed: ends what is left, whatever state it is in. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
    await this.#runner;
  }
}

/** Whether there is such a process; one that has ended and is only not yet collected by its parent is not. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // ESRCH: no such process
  }
}
