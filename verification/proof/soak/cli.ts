import { parseArgs } from 'node:util';
import { LEAKS, type LeakKind } from '../../apps/soak/soak.settings.js';
import { soak } from './soak.js';
import { figuresOf } from './table.js';
import { verdictOf } from './verdict.js';

const USAGE = `soak: random work on three nodes and real members, to see what grows
  --minutes <n>   how long (10); Ctrl-C ends it early, with the figures so far
  --members <n>   members of the cluster (2), one of which is restarted now and then
  --names <n>     semaphores that come and go (400)
  --leak <kind>   loses something on purpose, which must be found: ${LEAKS.join(', ')}`;

/** @returns the exit code: 1 when something grows, failed or was left over, 2 for arguments that can't be used */
export async function main(args: readonly string[], print: (text: string) => void): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      members: { type: 'string', default: '2' },
      names: { type: 'string', default: '400' },
      leak: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [minutes, members, names] = [Number(values.minutes), Number(values.members), Number(values.names)];
  const leak = values.leak as LeakKind | undefined;
  const isUsable = minutes > 0 && members >= 1 && names >= 1 && (leak === undefined || LEAKS.includes(leak));
  if (values.help || !isUsable) {
    print(USAGE);
    return isUsable ? 0 : 2;
  }
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const courses = await soak({ minutes, members, names, leak }, print, interrupted.signal);
  print(figuresOf(courses));
  const findings = verdictOf(courses);
  for (const finding of findings) print(`FAILED: ${finding}`);
  if (findings.length === 0) print('Nothing grows, nothing failed, nothing was left over.');
  return findings.length === 0 ? 0 : 1;
}
