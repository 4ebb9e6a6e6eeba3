import { Command } from 'commander';
import { quoted } from '../../core/decision/index.js';
import type { Explanation } from '../../gatekeeper/index.js';
import { type CareOptions, dryRunOption, withCare, yesOption } from '../session/confirm.js';
import { CommandFailure, EXIT, type ExitCode } from '../options/exit-code.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { readName, reasonOption } from '../options/option-readers.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { timeText } from '../../console/lists/texts.js';

type Options = CareOptions & { readonly reason?: string };
type Holder = Explanation['holders'][number];

export function removeCommand(runner: Runner): Command {
  return new Command('remove')
    .description('remove a definition with all its permits; code does not restore it, only "define" or "reset" does')
    .argument('<name>', 'name of the semaphore', readName)
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(yesOption())
    .action(
      runner.action<Options, [string]>((session, options, name) =>
        session.operate((operator) => remove(session, operator, name, options)),
      ),
    );
}

export function revokeCommand(runner: Runner): Command {
  return new Command('revoke')
    .description('take a permit from its holder at once')
    .argument('<name>', 'name of the semaphore', readName)
    .argument('[permitId]', 'id of the permit, as "explain" shows it; optional if only one permit is held')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(yesOption())
    .action(
      runner.action<Options, [string, string | undefined]>((session, options, name, permitId) =>
        session.operate((operator) => revoke(session, operator, { name, permitId }, options)),
      ),
    );
}

async function remove(session: Session, operator: Operator, name: string, { reason, ...care }: Options) {
  const found = await holding(operator, name).catch(ifUnreadable);
  if (found && !found.definition) throw new CommandFailure(EXIT.notFound, noSemaphore(name));
  const { holders } = found ?? {};
  return withCare(session, care, {
    plan: { removed: name, ...(holders && { holders }) },
    sentence: `remove ${plain(name)} and ${holders ? holdersText(holders) : "its record, which can't be read, with all its permits"}`,
    change: async () => {
      const { removed } = await operator.call(OPERATIONS.remove, { params: { name }, body: { reason } });
      if (!removed) throw new CommandFailure(EXIT.notFound, noSemaphore(name));
      session.output.result({ removed: name }, () => `${plain(name)}: removed`);
    },
  });
}

/** The present definition and holders. */
function holding(operator: Operator, name: string): Promise<Explanation> {
  return operator.call(OPERATIONS.explain, { params: { name } });
}

/** An operator may remove a record that can't be read. Its holders are not known then. @throws any other error */
function ifUnreadable(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code !== 'corrupt-record') throw error;
}

interface Which {
  readonly name: string;
  readonly permitId: string | undefined;
}

async function revoke(
  session: Session,
  operator: Operator,
  { name, permitId }: Which,
  { reason, ...care }: Options,
): Promise<ExitCode | void> {
  const { holders } = await holding(operator, name);
  const holder = permitId === undefined ? theOnly(name, holders) : holders.find(({ id }) => id === permitId);
  if (!holder) throw new CommandFailure(EXIT.notFound, notHeld(name, permitId));
  return withCare(session, care, {
    plan: { semaphore: name, revoked: holder.id, holder },
    sentence: plain(`revoke ${name}: ${holderText(holder)}`),
    change: async () => {
      const sent = { params: { name }, body: { permitId: holder.id, reason } };
      const { revoked } = await operator.call(OPERATIONS.revoke, sent);
      if (!revoked) throw new CommandFailure(EXIT.notFound, notHeld(name, holder.id));
      session.output.result({ semaphore: name, revoked: holder.id }, () => plain(`${name}: revoked ${holder.id}`));
    },
  });
}

/** @throws CommandFailure if there are several holders, because the command must not guess */
function theOnly(name: string, holders: readonly Holder[]): Holder | undefined {
  if (holders.length <= 1) return holders[0];
  const listed = holders.map((holder) => `${holder.id} (${holder.group}/${holder.acquirer})`).join(', ');
  throw new CommandFailure(
    EXIT.conflict,
    `${holders.length} permits of ${quoted(name)} are held: give the id of one of them: ${listed}`,
  );
}

function holdersText(holders: readonly Holder[]): string {
  if (holders.length === 0) return 'no held permit';
  return plain(`${holders.length} held: ${holders.map(holderText).join(', ')}`);
}

function holderText({ id, group, acquirer, expiresAt }: Holder): string {
  return `${id} of ${group}/${acquirer}, until ${timeText(expiresAt)}`;
}

function noSemaphore(name: string): string {
  return `there is no semaphore ${quoted(name)} to remove: "gatekeeper status" lists all semaphores`;
}

function notHeld(name: string, permitId: string | undefined): string {
  const which = permitId === undefined ? 'no permit' : `no permit ${quoted(permitId)}`;
  return `${which} of ${quoted(name)} is held: "gatekeeper explain" shows the held permits`;
}
