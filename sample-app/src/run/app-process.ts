import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import { execaNode } from 'execa';

const MAIN = join(import.meta.dirname, '../main.js');
const COLORS = ['cyan', 'magenta', 'yellow'] as const;

/** One node: the app in a process of its own, each line of its output marked with its port. */
export class AppProcess {
  /** Resolves when the process is gone, with the signal or exit code that ended it; never rejects. */
  readonly ended: Promise<string>;
  readonly #child;

  /** @param stop ends it: with SIGTERM, and with SIGKILL if that was not enough (a frozen process hears no SIGTERM) */
  constructor(
    readonly port: number,
    index: number,
    variables: Readonly<Record<string, string>>,
    /** As they stand in {@link command}. */
    private readonly shown: Readonly<Record<string, string>>,
    stop: AbortSignal,
  ) {
    const prefix = colored(index, `${port} |`);
    const marked = function* (line: unknown) {
      yield `${prefix} ${String(line)}`;
    };
    this.#child = execaNode(MAIN, {
      env: { ...variables, PORT: String(port) },
      ipc: true,
      stdin: 'ignore',
      stdout: [marked, 'inherit'],
      stderr: [marked, 'inherit'],
      buffer: false,
      reject: false,
      cancelSignal: stop,
      forceKillAfterDelay: 5000,
    });
    this.ended = this.#child.then(({ signal, exitCode }) => signal ?? `exit code ${exitCode}`);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Resolves when it serves requests.
   *
   * @throws when it ended before that
   */
  async ready(): Promise<void> {
    const message = await this.#child.getOneMessage().catch(() => this.ended);
    if (message === 'ready') return;
    throw new Error(
      `The app on port ${this.port} ended while it started (${String(message)}): its lines above say why`,
    );
  }

  /** The command line that starts it again. */
  get command(): string {
    const variables = Object.entries({ PORT: this.port, ...this.shown }).map(([name, value]) => `${name}=${value}`);
    return `${variables.join(' ')} node ${relative(process.cwd(), MAIN)}`;
  }
}

function colored(index: number, text: string): string {
  return process.stdout.isTTY ? styleText(COLORS[index % COLORS.length]!, text) : text;
}
