import { CommanderError } from 'commander';
import { messageOf, safeStack } from '../core/decision/index.js';
import { type ExitCode, exitCodeOf } from './options/exit-code.js';
import { createProgram } from './program.js';
import { Runner, type Shell } from './session/session.js';
import { plain } from './text/plain.js';

/**
 * Runs a command line.
 *
 * @param args without the names of Node and of the script
 * @returns the exit code of the process; never rejects
 */
export async function run(args: readonly string[], shell: Shell): Promise<ExitCode> {
  const runner = new Runner(shell);
  const program = createProgram(runner, shell.streams);
  try {
    await program.parseAsync(args, { from: 'user' });
    return runner.exitCode;
  } catch (error) {
    // Commander has already printed its own errors.
    if (!(error instanceof CommanderError)) tell(error, program.opts<{ verbose?: true }>().verbose, shell);
    return exitCodeOf(error);
  }
}

function tell(error: unknown, isVerbose: true | undefined, { streams }: Shell): void {
  const message = messageOf(error);
  streams.err(`gatekeeper: ${plain(message)}\n`);
  if (isVerbose && error instanceof Error) streams.err(`${safeStack(error)}${causeOf(error)}\n`);
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? `\ncaused by: ${safeStack(cause)}` : '';
}
