import { parseArgs } from 'node:util';
import { readDuration } from '../../../lib/core/decision/duration.js';
import { checkHistory } from './check-history.js';
import { readHistory } from './history-file.js';
import type { TakeoverTimes } from './takeovers.js';
import { verdictText } from './verdict-text.js';

const USAGE = `history: holds stored histories (JSON lines, one run, as many files as there are) against what is promised
  npm run history -- <file.jsonl>...
  --takeover <semaphore>=<duration>,<clockTolerance>,<bound>   judge takeovers, too: --takeover 'job=10s,500ms,2s'; * for all
  --slack <duration>                                           how late timers and log lines may be (50ms)`;

/** @returns the exit code: 1 when a promise was broken, 2 when it was asked wrongly */
export async function main(args: readonly string[], print: (text: string) => void): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      takeover: { type: 'string', multiple: true, default: [] },
      slack: { type: 'string', default: '50ms' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || positionals.length === 0) {
    print(USAGE);
    return values.help ? 0 : 2;
  }
  const takeovers = Object.fromEntries(values.takeover.map(takeoverOf));
  const verdict = checkHistory(await readHistory(...positionals), {
    takeovers,
    slack: durationOf(values.slack, '--slack'),
  });
  print(verdictText(verdict));
  return verdict.violations.length > 0 ? 1 : 0;
}

function takeoverOf(text: string): [string, TakeoverTimes] {
  const [, semaphore, ...times] = /^(.+)=([^,]+),([^,]+),([^,]+)$/.exec(text) ?? [];
  if (!semaphore) throw new Error(`--takeover ${text}: write <semaphore>=<duration>,<clockTolerance>,<bound>`);
  const [duration, tolerance, bound] = times.map((time) => durationOf(time, `--takeover ${semaphore}`));
  return [semaphore, { duration: duration!, tolerance: tolerance!, bound: bound! }];
}

function durationOf(text: string, option: string): number {
  const duration = readDuration(text);
  if (typeof duration === 'string') throw new Error(`${option}: ${duration}`);
  return duration;
}
