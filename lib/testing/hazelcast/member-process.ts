import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { supervised } from './supervisor.js';

/** One process of a member. Each start of the member has a new one. */
export class MemberProcess {
  readonly gone: Promise<void>;
  #running = true;
  readonly #child: ChildProcess;

  constructor(wrapper: readonly string[], program: readonly string[], onLine: (line: string) => void) {
    const { file, args } = supervised(wrapper, program);
    // In its own session, because Ctrl-C in a terminal must reach only this process, not the members.
    this.#child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: withoutOverrides(), detached: true });
    this.#child.once('error', (error) => onLine(`could not be started: ${error.message}`));
    for (const output of [this.#child.stdout, this.#child.stderr]) eachLine(output, onLine);
    this.gone = new Promise<void>((resolve) => this.#child.once('close', () => resolve())).then(() => this.#ended());
  }

  get running(): boolean {
    return this.#running;
  }

  /** Sends a signal to Java, or to the wrapper while Java's pid is not known. */
  signal(name: NodeJS.Signals, pid: number | undefined): void {
    if (!this.#running) return;
    if (pid === undefined) this.#child.kill(name);
    else sendTo(pid, name);
  }

  #ended(): void {
    this.#running = false;
  }
}

function eachLine(output: Readable | null, onLine: (line: string) => void): void {
  if (output) createInterface({ input: output }).on('line', onLine);
}

/** HZ_ variables override the configuration. A member that gets both a variable and a property does not start. */
function withoutOverrides(env = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('HZ_')));
}

function sendTo(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // The process has just ended, and its end will be reported soon. So the signal is not needed.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
