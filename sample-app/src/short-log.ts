import { ConsoleLogger, type LogLevel } from '@nestjs/common';

export const FAULTS: readonly LogLevel[] = ['warn', 'error', 'fatal'];

/** Nest's log without process, date and color: three nodes write to one terminal, and each line begins with the port there. */
export class ShortLog extends ConsoleLogger {
  constructor(logLevels: readonly LogLevel[]) {
    super({ logLevels: [...logLevels], colors: false });
  }

  protected override formatMessage(
    level: LogLevel,
    message: unknown,
    _pid: string,
    _level: string,
    context: string,
  ): string {
    const fault = FAULTS.includes(level) ? `${level.toUpperCase()} ` : '';
    return `${fault}${context}${this.stringifyMessage(message, level)}\n`;
  }
}
