/** Text before Java's pid in the first line of a member's output. */
export const PID_MARK = 'gatekeeper-member-pid ';

/**
 * Starts the program in the arguments, and kills it when its owner ends. The owner holds the other end of this script's
 * standard input. That pipe closes even if the owner is killed with SIGKILL. Then a background job of the shell, the
 * watcher, sends SIGKILL to the program, which also ends a stopped (SIGSTOP) program.
 *
 * - The shell becomes the program (exec), so `$$` is the program's pid, whatever wrappers stand in front of the shell.
 * - The watcher reads the pipe as descriptor 3, because the standard input of a background job is /dev/null.
 * - The watcher ignores the signals that a whole process group may get.
 * - The watcher gives up its outputs, because their end tells the owner that the program has ended.
 * - The watcher closes descriptors 4 to 9, which a wrapper may have opened. faketime waits until all its descendants
 *   have closed a pipe. Otherwise the watcher would wait for the owner, and the owner for faketime.
 * - If the program ends by itself, the owner closes the pipe at once. The system assigns pids in turn, so no other
 *   process has the pid `$$` by then.
 */
const SCRIPT = `
exec 3<&0
( trap '' HUP INT TERM; read -r end <&3; kill -KILL $$ ) >/dev/null 2>&1 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
echo "${PID_MARK}$$"
exec "$@" </dev/null 3<&-
`;

/** Returns the command line that runs `program` with the watcher. `wrapper` stands in front of it all. */
export function supervised(wrapper: readonly string[], program: readonly string[]): { file: string; args: string[] } {
  const [file = 'sh', ...args] = [...wrapper, 'sh', '-c', SCRIPT, 'sh', ...program];
  return { file, args };
}
