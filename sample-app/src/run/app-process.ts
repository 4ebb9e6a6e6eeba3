import { join } from 'node:path';
import { styleText } from 'node:util';
import type { LogLevel } from '@nestjs/common';
import { execaNode } from 'execa';
import type { GatekeeperState } from 'nestjs-gatekeeper';
import type { Division, SampleNode } from './texts.js';

const MAIN = join(import.meta.dirname, '../main.js');
const COLORS = ['cyan', 'magenta', 'yellow'] as const;
/** ms. A frozen node does not answer at all. */
const LONGEST_ANSWER = 3000;

/** One node: the app in a process of its own, each line of its output marked with its port. */
export class AppProcess implements SampleNode {
  /** Resolves when the process is gone, with the signal or exit code that ended it; never rejects. */
  readonly ended: Promise<string>;
  /** Resolves when it serves requests, rejects when it ended before that. */
  readonly ready: Promise<void>;
  readonly #child;
  #isUp = false;

  /**
   * @param place which of the nodes it is: 0, 1, 2
   * @param stop ends it: with SIGTERM, and with SIGKILL if that was not enough (a frozen process hears no SIGTERM)
   */
  constructor(
    readonly port: number,
    place: number,
    variables: NodeJS.ProcessEnv,
    stop: AbortSignal,
  ) {
    const prefix = colored(place, `${port} |`);
    const marked = function* (line: unknown) {
      yield `${prefix} ${String(line)}`;
    };
    this.#child = execaNode(MAIN, {
      env: { ...variables, PORT: String(port), QUIET: 'true' },
      ipc: true,
      stdin: 'ignore',
      stdout: [marked, 'inherit'],
      stderr: [marked, 'inherit'],
      buffer: false,
      reject: false,
      cancelSignal: stop,
      forceKillAfterDelay: 5000,
    });
    this.ended = this.#child.then(({ signal, exitCode }) => {
      this.#isUp = false;
      return signal ?? `exit code ${exitCode}`;
    });
    this.ready = this.#start();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get name(): string {
    return `app-${this.port}`;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** From now on it writes lines of these levels. */
  async write(levels: readonly LogLevel[]): Promise<void> {
    // It may end at this moment; then it has no lines.
    await this.#child.sendMessage([...levels]).catch(() => undefined);
  }

  /** Ends it with SIGKILL. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** @throws Error if it does not answer */
  async division(): Promise<Division> {
    return (await this.#ask('/delivery')).json() as Promise<Division>;
  }

  /** The holders on all nodes. @throws Error if it does not answer */
  async state(): Promise<GatekeeperState> {
    return (await this.#ask('/')).json() as Promise<GatekeeperState>;
  }

  /** Begins the example with 100 tasks, under a name that was not used before. @throws Error if it does not answer */
  async reconcile(name: string): Promise<void> {
    await this.#ask(`/reconciliations/${name}`, { method: 'POST' });
  }

  async #start(): Promise<void> {
    const message = await this.#child.getOneMessage().catch(() => this.ended);
    if (message !== 'ready')
      throw new Error(
        `The app on port ${this.port} ended while it started (${String(message)}): its lines above say why`,
      );
    this.#isUp = true;
  }

  async #ask(path: string, request: RequestInit = {}): Promise<Response> {
    const signal = AbortSignal.timeout(LONGEST_ANSWER);
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, { ...request, signal });
    if (!answer.ok) throw new Error(`${this.name} answers ${answer.status} to ${path}: ${await answer.text()}`);
    return answer;
  }
}

function colored(place: number, text: string): string {
  return process.stdout.isTTY ? styleText(COLORS[place % COLORS.length]!, text) : text;
}
