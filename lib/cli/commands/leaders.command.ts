import { Argument, Command } from 'commander';
import { MEMBER_COLUMNS, SCOPE_COLUMNS } from '../../console/lists/nodes.js';
import { quoted } from '../../core/decision/index.js';
import type { LeadersOverview, MemberState, NodeIdentity, ScopeOverview } from '../../gatekeeper/index.js';
import { type CareOptions, dryRunOption, withCare, yesOption } from '../session/confirm.js';
import { CommandFailure, EXIT, type ExitCode, UsageFailure } from '../options/exit-code.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { reasonOption } from '../options/option-readers.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { cellsOf, table } from '../text/table.js';
import { someOf } from '../../console/lists/texts.js';

type Options = CareOptions & { readonly reason?: string };
type Verb = 'step-down' | 'transfer';

export function leadersCommand(runner: Runner): Command {
  return new Command('leaders')
    .description('show the scopes of leadership with their leaders, and the nodes that take part')
    .action(
      runner.action(async (session) => {
        session.output.result(await session.operate((operator) => operator.call(OPERATIONS.leaders)), leadersText);
      }),
    );
}

export function leaderCommand(runner: Runner): Command {
  return new Command('leader')
    .description('ask the leader of a scope to step down, or transfer the leadership to a node')
    .addArgument(new Argument('<action>', 'what to do').choices(['step-down', 'transfer']))
    .argument('<scope>', 'name of the scope')
    .argument('[node]', 'for transfer: acquirer, group/acquirer, or the begin of the instance, as "leaders" shows it')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(yesOption())
    .action(
      runner.action<Options, [Verb, string, string | undefined]>((session, options, verb, scope, node) => {
        expectNode(verb, node);
        return session.operate((operator) => handOver(session, operator, { scope, node }, options));
      }),
    );
}

/** @throws UsageFailure */
function expectNode(verb: Verb, node: string | undefined): void {
  if (verb === 'transfer' && node === undefined)
    throw new UsageFailure('name the node: leader transfer <scope> <node>');
  if (verb === 'step-down' && node !== undefined) {
    throw new UsageFailure(
      `to choose the next leader, use "leader transfer": step-down takes no node, not ${quoted(node)}`,
    );
  }
}

interface Which {
  readonly scope: string;
  /** The text that names the target of a transfer. */
  readonly node: string | undefined;
}

async function handOver(
  session: Session,
  operator: Operator,
  { scope, node }: Which,
  { reason, ...care }: Options,
): Promise<ExitCode | void> {
  const leaders = await operator.call(OPERATIONS.leaders);
  const { leader, candidates } = scopeNamed(leaders, scope);
  const target = node === undefined ? undefined : identityOf(memberNamed(leaders, node));
  if (!leader && !target) throw new CommandFailure(EXIT.notFound, noLeader(scope));
  const whom = { scope, ...(leader && { leader }), ...(target && { target }) };
  return withCare(session, care, {
    plan: whom,
    sentence: plain(target ? transferText(scope, leader, target) : stepDownText(scope, leader!, candidates)),
    change: async () => {
      const params = { scope };
      const { asked } = target
        ? await operator.call(OPERATIONS.transfer, { params, body: { node: target.instance, reason } })
        : await operator.call(OPERATIONS.stepDown, { params, body: { reason } });
      if (!asked) throw new CommandFailure(EXIT.conflict, target ? leadsAlready(scope, target) : noLeader(scope));
      session.output.result({ ...whom, asked }, () => plain(doneText(scope, leader, target)));
    },
  });
}

/** @throws CommandFailure */
function scopeNamed({ scopes }: LeadersOverview, name: string): ScopeOverview {
  const found = scopes.find(({ scope }) => scope === name);
  if (found) return found;
  const known = scopes.length > 0 ? `known are ${someOf(scopes.map(({ scope }) => scope))}` : 'there is none yet';
  throw new CommandFailure(EXIT.notFound, `there is no scope ${quoted(name)}: ${known}`);
}

/** @throws CommandFailure if no living node, or several, have that name */
function memberNamed({ members }: LeadersOverview, text: string): MemberState {
  const isNamed = ({ group, acquirer, instance }: MemberState) =>
    [acquirer, `${group}/${acquirer}`].includes(text) || instance.startsWith(text);
  const living = members.filter(({ state }) => state === 'living');
  const found = living.filter(isNamed);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new CommandFailure(EXIT.notFound, `no living participant is named ${quoted(text)}`);
  const listed = someOf(found.map(({ group, acquirer, instance }) => `${group}/${acquirer} ${instance}`));
  throw new CommandFailure(
    EXIT.conflict,
    `${found.length} nodes are named ${quoted(text)}: give an instance: ${listed}`,
  );
}

function identityOf({ group, acquirer, instance }: NodeIdentity): NodeIdentity {
  return { group, acquirer, instance };
}

function stepDownText(scope: string, leader: NodeIdentity, candidates: number): string {
  const others = candidates - 1;
  const next =
    others > 0 ? `${others} other ${others === 1 ? 'node' : 'nodes'} could lead` : 'no other node could lead now';
  return `ask ${nodeText(leader)} to step down from ${scope} (${next})`;
}

function transferText(scope: string, leader: NodeIdentity | undefined, target: NodeIdentity): string {
  return `transfer ${scope} from ${leader ? nodeText(leader) : 'no leader'} to ${nodeText(target)}`;
}

function doneText(scope: string, leader: NodeIdentity | undefined, target: NodeIdentity | undefined): string {
  if (!target) return `${scope}: ${nodeText(leader!)} was asked to step down`;
  return leader
    ? `${scope}: ${nodeText(leader)} was asked to hand over to ${nodeText(target)}`
    : `${scope}: the next term is kept for ${nodeText(target)}`;
}

function noLeader(scope: string): string {
  return `no node leads scope ${quoted(scope)}: "gatekeeper leaders" shows why`;
}

function leadsAlready(scope: string, target: NodeIdentity): string {
  return `${nodeText(target)} leads scope ${quoted(scope)} already`;
}

/** Formats the scopes, one line each, and below them the nodes of the membership. */
function leadersText({ now, scopes, members, problems }: LeadersOverview): string {
  const led = scopes.length > 0 ? table(...cellsOf(SCOPE_COLUMNS, scopes, now)) : 'no scopes of leadership';
  const nodes = members.length > 0 ? table(...cellsOf(MEMBER_COLUMNS, members)) : 'no participants';
  return [led, '', nodes, ...problems.map(plain)].join('\n');
}

/** "production/app1" */
function nodeText({ group, acquirer }: NodeIdentity): string {
  return `${group}/${acquirer}`;
}
