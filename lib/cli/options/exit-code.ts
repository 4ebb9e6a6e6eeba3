import { CommanderError } from 'commander';
// Not from the index, because that also loads Nest, which takes long.
import { PROBLEMS, isProblemCode } from '../../console/api/problem-codes.js';
import { InvalidOptionsError } from '../../core/decision/index.js';

/** Exit codes of the command line. Scripts depend on them, so they are never renumbered. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  notAllowed: 5,
  unreachable: 6,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Meaning of each exit code, for `--help` and docs/cli.md. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.done]: 'done',
  [EXIT.failed]: 'failed, or partly failed; health: degraded',
  [EXIT.usage]: 'wrong usage',
  [EXIT.notFound]: 'not found',
  [EXIT.conflict]: 'conflict (another change came first, or it exists already), or denied',
  [EXIT.notAllowed]: 'not allowed: no token, a wrong one, or a role that is too low',
  [EXIT.unreachable]: "the target is unreachable, can't answer now, or grants nothing",
};

/** Exit code of the only error whose HTTP status stands for another one. */
const BY_CODE: ReadonlyMap<unknown, ExitCode> = new Map([['not-in-code', EXIT.notFound]]);

const BY_STATUS: ReadonlyMap<unknown, ExitCode> = new Map<unknown, ExitCode>([
  [400, EXIT.usage],
  [401, EXIT.notAllowed],
  [403, EXIT.notAllowed],
  [404, EXIT.notFound],
  [409, EXIT.conflict],
  [422, EXIT.usage],
  [429, EXIT.unreachable],
  [502, EXIT.unreachable],
  [503, EXIT.unreachable],
  [504, EXIT.unreachable],
]);

/** Ends a command. The user sees its message. */
export class CommandFailure extends Error {
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CommandFailure';
  }
}

export class UsageFailure extends CommandFailure {
  constructor(message: string, options?: ErrorOptions) {
    super(EXIT.usage, message, options);
  }
}

/** @returns the exit code of the process for an error */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandFailure) return error.exitCode;
  if (error instanceof InvalidOptionsError) return EXIT.usage;
  // Commander also throws for --help and --version, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown };
  return BY_CODE.get(code) ?? BY_STATUS.get(status ?? statusOf(code)) ?? EXIT.failed;
}

/** @returns the HTTP status with which the console would refuse a call, so that both ways to a cluster end alike */
function statusOf(code: unknown): number | undefined {
  return typeof code === 'string' && isProblemCode(code) ? PROBLEMS[code][0] : undefined;
}
