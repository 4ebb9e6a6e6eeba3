import { AsyncLocalStorage } from 'node:async_hooks';
import { styleText } from 'node:util';
import { ConsoleLogger, type LogLevel } from '@nestjs/common';

const COLORS = ['cyan', 'magenta', 'yellow'] as const;
const FAULTS: readonly LogLevel[] = ['warn', 'error', 'fatal'];

/** A node whose code writes to the log. */
export interface LogSource {
  readonly port: number;
  /** Which of the nodes it is, for its color. */
  readonly place: number;
  /** Until it serves, only its faults are worth a line. A node that was killed says nothing, whatever of it still runs. */
  state: 'booting' | 'serving' | 'down';
}

const source = new AsyncLocalStorage<LogSource>();

/** Runs the code of one node: all that it starts, timers and requests included, writes to the log as this node. */
export function runAs<T>(node: LogSource, code: () => T): T {
  return source.run(node, code);
}

/** Nest has one log per process. This one begins each line with the port of the node that wrote it. */
export class NodeLog extends ConsoleLogger {
  /** Until {@link begin} it has only lines about faults. @param write takes whole lines */
  constructor(private readonly write: (text: string) => void) {
    super({ logLevels: [...FAULTS], colors: isColored() });
  }

  protected override printMessages(
    messages: unknown[],
    context = '',
    level: LogLevel = 'log',
    _stream?: 'stdout' | 'stderr',
    stack?: unknown,
  ): void {
    const node = source.getStore();
    if (node?.state === 'down' || (node?.state === 'booting' && !FAULTS.includes(level))) return;
    const prefix = node === undefined ? '' : `${colored(node)} `;
    const fault = FAULTS.includes(level) ? `${level.toUpperCase()} ` : '';
    for (const message of stack === undefined ? messages : [...messages, stack])
      this.write(`${prefix}${fault}[${context}] ${this.stringifyMessage(message, level)}\n`);
  }

  /** From now on runs have lines. */
  begin(): void {
    this.setLogLevels(['log', ...FAULTS]);
  }

  /** Whether each message that was delivered and each page that was archived has a line. Returns what it is now. */
  toggleDetails(): boolean {
    const isOn = !this.isLevelEnabled('verbose');
    this.setLogLevels([...(isOn ? (['verbose'] as const) : []), 'log', ...FAULTS]);
    return isOn;
  }

  /** {@link printMessages} has written it. */
  protected override printStackTrace(): void {}
}

function colored({ port, place }: LogSource): string {
  const text = `${port} |`;
  return isColored() ? styleText(COLORS[place % COLORS.length]!, text) : text;
}

function isColored(): boolean {
  return Boolean(process.stdout.isTTY) && !process.env['NO_COLOR'];
}
