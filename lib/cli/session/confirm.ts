import { Option } from 'commander';
import { EXIT, type ExitCode } from '../options/exit-code.js';
import type { Session } from './session.js';

/** Options of a command that may do harm. */
export interface CareOptions {
  readonly dryRun?: true;
  readonly yes?: true;
}

/** A change that is not made yet, with its description. */
export interface CarefulChange {
  /** JSON output of a dry run. */
  readonly plan: object;
  /** A sentence for people that begins with the verb of the change: "pause 2: mailing, report". */
  readonly sentence: string;
  readonly change: () => Promise<ExitCode | void>;
}

export const dryRunOption = () => new Option('--dry-run', 'show what would change, and change nothing');

export const yesOption = () => new Option('--yes', 'do not ask first (without a terminal it never asks)');

/**
 * With `--dry-run`, shows the plan. Otherwise makes the change; on a terminal it asks first, unless `--yes` is given.
 */
export async function withCare(
  session: Session,
  { dryRun, yes }: CareOptions,
  { plan, sentence, change }: CarefulChange,
): Promise<ExitCode | void> {
  if (dryRun) return session.output.result({ dryRun: true, ...plan }, () => `would ${sentence}; nothing was changed`);
  if (yes || (await session.confirm(`${sentence}?`))) return change();
  session.output.note('gatekeeper: nothing was changed');
  return EXIT.failed;
}
