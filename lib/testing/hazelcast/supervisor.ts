/** Precedes the pid of Java in the first line of a member's output. */
export const PID_MARK = 'gatekeeper-member-pid ';

/**
 * Starts the program given as arguments so that it can't outlive the process that holds the other end of its standard
 * input. The end of that pipe comes even when the holder is killed with SIGKILL, and the SIGKILL sent here ends a
 * stopped (SIGSTOP) program too.
 *
 * The shell becomes the program (exec), so `$$` is the program's pid however many wrappers are in front of this. A
 * background job's standard input is /dev/null, hence descriptor 3. The watching half ignores the signals that a
 * whole process group may get. It gives up the outputs, whose end tells the owner that the program is gone, and what
 * else a wrapper handed down: faketime waits until all of its descendants have closed a pipe, and this one would wait
 * for the owner, who waits for faketime. When the program ends by itself, the owner closes the pipe at once: pids are
 * given out in turn, so `$$` is not in use again by then.
 */
const SCRIPT = `
exec 3<&0
( trap '' HUP INT TERM; read -r end <&3; kill -KILL $$ ) >/dev/null 2>&1 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
echo "${PID_MARK}$$"
exec "$@" </dev/null 3<&-
`;

/** The command line that runs `program` under supervision, `wrapper` in front of it all. */
export function supervised(wrapper: readonly string[], program: readonly string[]): { file: string; args: string[] } {
  const [file = 'sh', ...args] = [...wrapper, 'sh', '-c', SCRIPT, 'sh', ...program];
  return { file, args };
}
