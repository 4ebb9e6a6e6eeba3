import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';

/**
 * A wall clock that is wrong, as libfaketime writes it: by an offset ("+600s", "-0.08s") from the start, or by the one
 * that stands in a file, read anew at each look at the clock. The monotonic clock stays right.
 */
export type WrongClock = { readonly offset: string } | { readonly offsetFile: string };

/**
 * Prefix of a command that makes the program use a wrong clock.
 *
 * It is what the program `faketime` would put into the environment. That program itself names a semaphore after its
 * pid, and gives up if one of that name was left by a process that was killed.
 */
export function withClock(clock: WrongClock): string[] {
  const offset =
    'offset' in clock
      ? [`FAKETIME=${clock.offset}`]
      : ['FAKETIME_NO_CACHE=1', `FAKETIME_TIMESTAMP_FILE=${clock.offsetFile}`];
  // Without the last of these Java's timed waits, which go by the monotonic clock, never end.
  const rightMonotonic = ['FAKETIME_DONT_FAKE_MONOTONIC=1', 'DONT_FAKE_MONOTONIC=1', 'FAKETIME_FORCE_MONOTONIC_FIX=0'];
  return ['env', ...rightMonotonic, ...offset, `LD_PRELOAD=${library()}`];
}

/** Removes what the library of a process that was killed left behind. Without the memory, a semaphore is harmless. */
export async function forgetClockOf(pid: number): Promise<void> {
  await rm(`/dev/shm/faketime_shm_${pid}`, { force: true });
  await rm(`/dev/shm/sem.faketime_sem_${pid}`, { force: true });
}

export const canSetClocks = (): boolean => spawnSync('faketime', ['--version']).error === undefined;

let found: string | undefined;

/** Where the library for programs with threads is: only `faketime` knows. It may hit a semaphore that was left. */
function library(): string {
  for (let attempt = 0; !found && attempt < 5; attempt++) {
    const { stdout } = spawnSync('faketime', ['-m', '-f', '+0s', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });
    found = stdout.trim();
  }
  if (!found) throw new Error('"faketime -m -f +0s printenv LD_PRELOAD" does not say where its library is');
  return found;
}
