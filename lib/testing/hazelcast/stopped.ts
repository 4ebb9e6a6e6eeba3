import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** ms between two looks. */
const INTERVAL = 2;

/** Most ms that {@link stopped} waits. */
const PATIENCE = 5000;

/**
 * Waits until all threads of a process have stopped. A thread that runs on a processor stops some ms after the signal
 * was sent, on a busy machine later, and may answer a request until then. Without Linux's /proc it does not wait.
 *
 * @param isWanted the wait ends when this is false
 * @returns false if some still run
 */
export async function stopped(pid: number, isWanted: () => boolean): Promise<boolean> {
  const end = performance.now() + PATIENCE;
  while (performance.now() < end) {
    const states = await statesOf(pid);
    if (!isWanted() || states.every((state) => !RUNS.test(state))) return true;
    await pause(INTERVAL);
  }
  return false;
}

/** Running, sleeping, or waiting for a disk: a thread that is stopped, traced or ended has another letter. */
const RUNS = /^[RSDI]/;

/** @returns the letter of each thread, as /proc tells it; none if the process has ended */
async function statesOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/task`;
  // No folder: the process has ended, or the system has no /proc. A thread without a file has ended since.
  const threads = await readdir(folder).catch(() => []);
  return Promise.all(threads.map((thread) => readFile(`${folder}/${thread}/stat`, 'utf8').then(stateIn, () => 'X')));
}

/** The state stands after the name, which is in brackets and may contain brackets. */
function stateIn(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2);
}
