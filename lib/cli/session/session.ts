import type { Command } from 'commander';
import { AssuredOperator } from './assured.js';
import { EXIT, type ExitCode } from '../options/exit-code.js';
import { exposures } from '../operator/exposures.js';
import type { openOperator } from './open-operator.js';
import { type Format, Output, type Streams, Progress } from './output.js';
import { plain } from '../text/plain.js';
import { type Contexts, readContexts } from '../options/contexts.js';
import { resolveTarget } from '../options/target.js';
import type { Environment, TargetOptions } from '../options/target-options.js';

/** The process in which a command runs; tests replace it. */
export interface Shell {
  readonly streams: Streams;
  readonly env: Environment;
  /** A signal that aborts at SIGINT or SIGTERM. After this call they no longer end the process by themselves. */
  readonly interruption: () => AbortSignal;
  /** Asks the user a yes-no question. Absent if there is no terminal. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
  /** Connects to a target. */
  readonly open: typeof openOperator;
}

/** Options that every command has. */
export interface GlobalOptions extends TargetOptions {
  readonly json?: true;
  readonly output?: Format;
  readonly verbose?: true;
  readonly progress?: true;
  readonly as?: string;
  /** ms */
  readonly timeout: number;
  /** ms */
  readonly clockTolerance?: number;
}

/** The node for which `explain` answers. */
export interface Identity {
  readonly group?: string | undefined;
  readonly acquirer?: string | undefined;
}

/** One call of a command: its output, its options and its target. */
export class Session {
  readonly output: Output;
  readonly progress: Progress;

  constructor(
    private readonly shell: Shell,
    private readonly options: GlobalOptions,
  ) {
    this.output = new Output(shell.streams, options.json ? 'json' : (options.output ?? 'text'));
    this.progress = new Progress(shell.streams, options.progress === true);
  }

  /** From now on SIGINT and SIGTERM abort this signal instead of ending the process. */
  interruption(): AbortSignal {
    return this.shell.interruption();
  }

  contexts(): Contexts {
    return readContexts(this.shell.env);
  }

  /** Whether there is a terminal at which to ask the user. */
  get canAsk(): boolean {
    return this.shell.ask !== undefined;
  }

  /** Asks before a change that may do harm. Without a terminal the answer is yes, because a script can't answer. */
  async confirm(question: string): Promise<boolean> {
    this.progress.clear();
    return (await this.shell.ask?.(plain(question))) ?? true;
  }

  /** Does `work` with the target that the options name, and closes the connection afterwards. */
  async operate<T>(work: (operator: AssuredOperator) => Promise<T>, identity: Identity = {}): Promise<T> {
    const operator = await this.#open(identity);
    try {
      return await work(operator);
    } finally {
      this.progress.clear();
      await operator[Symbol.asyncDispose]();
    }
  }

  async #open(identity: Identity): Promise<AssuredOperator> {
    const { options, shell } = this;
    const { as: by, timeout, clockTolerance } = options;
    const target = resolveTarget(options, shell.env);
    for (const exposure of exposures(target)) this.output.note(`gatekeeper: warning: ${exposure}`);
    const manner = { by, timeout, clockTolerance, ...identity, logger: this.#logger() };
    return new AssuredOperator(await shell.open(target, manner));
  }

  #logger() {
    const warn = (message: string) => this.output.note(`gatekeeper: ${message}`);
    const log = (message: string) => this.options.verbose && warn(message);
    return { warn, error: warn, log, debug: () => undefined };
  }
}

/** The work of a command. @returns its exit code; undefined stands for 0 */
export type Work<Options, Arguments extends readonly unknown[]> = (
  session: Session,
  options: Options,
  ...args: Arguments
) => Promise<ExitCode | void>;

/** Adapts the work of commands to commander, and keeps the exit code. */
export class Runner {
  exitCode: ExitCode = EXIT.done;

  constructor(private readonly shell: Shell) {}

  action<Options, Arguments extends readonly unknown[]>(work: Work<Options, Arguments>) {
    return async (...all: unknown[]): Promise<void> => {
      const command = all.at(-1) as Command;
      const session = new Session(this.shell, command.optsWithGlobals<GlobalOptions>());
      const args = command.processedArgs as unknown as Arguments;
      this.exitCode = (await work(session, command.opts() as Options, ...args)) ?? EXIT.done;
    };
  }
}
