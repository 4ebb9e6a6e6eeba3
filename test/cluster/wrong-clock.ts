import { spawnSync } from 'node:child_process';

/**
 * A wall clock that is wrong, as libfaketime writes it: by an offset ("+600s", "-0.08s") from the start, or by the one
 * that stands in a file, read anew at each look at the clock. The monotonic clock stays right.
 */
export type WrongClock = { readonly offset: string } | { readonly offsetFile: string };

/** Prefix of a command that makes the program use a wrong clock. */
export function inFrontOf(
  clock: WrongClock | undefined,
  program: readonly string[],
): { wrapper: readonly string[]; program: readonly string[] } {
  if (!clock) return { wrapper: [], program };
  const rightMonotonic = ['FAKETIME_DONT_FAKE_MONOTONIC=1', 'DONT_FAKE_MONOTONIC=1'];
  const wrapper = ['env', ...rightMonotonic, 'faketime', '-f', 'offset' in clock ? clock.offset : '+0s'];
  if ('offset' in clock) return { wrapper, program };
  // faketime always names an offset, which would win over the file.
  const fromFile = ['env', '-u', 'FAKETIME', 'FAKETIME_NO_CACHE=1', `FAKETIME_TIMESTAMP_FILE=${clock.offsetFile}`];
  return { wrapper, program: [...fromFile, ...program] };
}

/**
 * The same for a program that `faketime` can't stand in front of, such as one that is started in another network: what
 * it would put into the environment. Java needs the library for programs with threads.
 */
export function preloadedClock(offsetFile: string): string[] {
  const { stdout } = spawnSync('faketime', ['-m', '-f', '+0s', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });
  // Without the last of these Java's timed waits, which go by the monotonic clock, never end.
  const rightMonotonic = ['FAKETIME_DONT_FAKE_MONOTONIC=1', 'DONT_FAKE_MONOTONIC=1', 'FAKETIME_FORCE_MONOTONIC_FIX=0'];
  const fromFile = ['FAKETIME_NO_CACHE=1', `FAKETIME_TIMESTAMP_FILE=${offsetFile}`];
  return ['env', ...rightMonotonic, ...fromFile, `LD_PRELOAD=${stdout.trim()}`];
}

export const canSetClocks = (): boolean => spawnSync('faketime', ['--version']).error === undefined;
