import { execa } from 'execa';

/** @returns one line that names the first program that is missing; undefined: all of them are there */
export async function lackOf(...programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs) {
    const { exitCode } = await execa({ reject: false })`which ${program}`;
    if (exitCode !== 0) return `${program} is missing: install it ("apt-get install ${program}")`;
  }
  return undefined;
}
