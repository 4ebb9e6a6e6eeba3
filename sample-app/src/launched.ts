import type { LogLevel } from '@nestjs/common';
import type { ShortLog } from './short-log.js';

/** ms that the shutdown may take when the launcher has died: with it ended the store, or at least the archive. */
const LONGEST_SHUTDOWN = 5000;

/**
 * Follows the process that started this one, if there is a channel to it: writes the lines that it asks for. When that
 * process has died, even by `kill -9`, the channel closes and this one ends, too. Called before all else: that process
 * may die while this one boots.
 */
export function followLauncher(log: ShortLog): void {
  if (process.send === undefined) return;
  process.on('message', (levels) => {
    if (Array.isArray(levels)) log.setLogLevels(levels as LogLevel[]);
  });
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), LONGEST_SHUTDOWN).unref();
    process.kill(process.pid, 'SIGTERM');
  });
}
