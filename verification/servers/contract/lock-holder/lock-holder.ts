import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { compiledProgram } from '../../../support/compiled-program.js';
import { PID_MARK, supervised } from '../../../../lib/testing/hazelcast/supervisor.js';
import { eventually } from '../../../../test/contract/eventually.js';
import type { LockHolderOrder } from './main.js';

const ANSWER = 'answer: ';
const PROGRAM = compiledProgram('verification/servers/contract/lock-holder/main.ts');

/** A process that stops or dies while it holds the lock of a record. It can't outlive the test. */
export class LockHolder implements AsyncDisposable {
  readonly #lines: string[] = [];
  readonly #child;

  constructor(order: LockHolderOrder) {
    const { file, args } = supervised([], [process.execPath, PROGRAM, JSON.stringify(order)]);
    const env = { NODE_OPTIONS: '' };
    this.#child = execa(file, args, { env, stdin: 'pipe', buffer: false, reject: false, detached: true, all: true });
    createInterface({ input: this.#child.all }).on('line', (line) => this.#lines.push(line));
  }

  /** Resolves when it holds the lock and is dead, or stands still. */
  static async interrupted(order: LockHolderOrder): Promise<LockHolder> {
    const holder = new LockHolder(order);
    await holder.#says('locked');
    await eventually(`it is under ${order.signal}`, () => holder.#isInterrupted());
    return holder;
  }

  /** @returns what its compare-and-set answered once it went on, or the code of its error */
  async goOn(): Promise<string> {
    process.kill(this.#pid(), 'SIGCONT');
    return (await this.#says(ANSWER)).slice(ANSWER.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#child;
  }

  #says(begin: string): Promise<string> {
    return eventually(`it says ${begin}`, () => {
      const line = this.#lines.find((said) => said.startsWith(begin));
      if (line === undefined) throw new Error(`it said ${JSON.stringify(this.#lines)}, not ${begin}`);
      return line;
    });
  }

  /** As the kernel has it: gone, dead (Z) or stopped (T). */
  async #isInterrupted(): Promise<boolean> {
    const stat = await readFile(`/proc/${this.#pid()}/stat`, 'utf8').catch(() => undefined);
    return stat === undefined || ['Z', 'T'].includes(stat.slice(stat.lastIndexOf(')') + 2)[0]!);
  }

  #pid(): number {
    return Number(this.#lines.find((line) => line.startsWith(PID_MARK))!.slice(PID_MARK.length));
  }
}
