import { Argument, Command } from 'commander';
import type { z } from 'zod';
import type { Operation } from '../../console/api/operation.js';
import { type CareOptions, dryRunOption, withCare, yesOption } from '../session/confirm.js';
import { CommandFailure, EXIT, type ExitCode, UsageFailure } from '../options/exit-code.js';
import { type AnswerOf, type BodyOf, OPERATIONS, type Operator } from '../operator/operator.js';
import { limitOption, reasonOption } from '../options/option-readers.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { groupText, groupsText, movesText, planText } from '../views/allocation.view.js';

const ACTIONS = ['moves', 'plan', 'pin', 'unpin', 'drain', 'undrain', 'confirm'] as const;
type Action = (typeof ACTIONS)[number];

/** Maximum number of resources in an answer. */
const MOST_RESOURCES = 10_000;

interface Options extends CareOptions {
  readonly reason?: string;
  readonly lose?: readonly string[];
  readonly join?: readonly string[];
  readonly drain?: readonly string[];
  readonly resource?: string;
  readonly node?: string;
  readonly limit: number;
}

type Arguments = [string | undefined, Action | undefined, string | undefined, string | undefined];

export function allocationCommand(runner: Runner): Command {
  return new Command('allocation')
    .description(
      'show allocation groups, owners and past moves, plan changes, pin resources, drain nodes, and confirm that most resources are gone; needs --url',
    )
    .argument('[group]', 'name of the group (default: all groups of the answering node)')
    .addArgument(new Argument('[action]', 'what to do (default: show the owners)').choices(ACTIONS))
    .argument('[subject]', 'for pin and unpin: the resource; for drain and undrain: name of the node')
    .argument('[node]', 'for pin: name of the node')
    .option('--lose <nodes...>', 'for plan: names of nodes that go at once')
    .option('--join <nodes...>', 'for plan: names of nodes that join')
    .option('--drain <nodes...>', 'for plan: names of nodes to drain')
    .option('--resource <text>', 'for moves: only resources whose id contains this text')
    .option('--node <name>', 'for moves: only from or to this node')
    .addOption(limitOption())
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(yesOption())
    .action(
      runner.action<Options, Arguments>((session, options, group, action, subject, node) => {
        expectFitting(action, subject);
        return session.operate((operator) => {
          if (group === undefined) return showAll(session, operator);
          if (action === undefined) return showOne(session, operator, group);
          if (action === 'moves') return moves(session, operator, group, options);
          if (action === 'plan') return plan(session, operator, group, options);
          if (action === 'confirm') return confirmSet(session, operator, group, options);
          return change(session, operator, orderOf(group, action, subject, node), options);
        });
      }),
    );
}

/** A plan of nothing must not pass for the plan of what was named. @throws UsageFailure */
function expectFitting(action: Action | undefined, subject: string | undefined): void {
  if (subject === undefined) return;
  const form = 'give: allocation <group>';
  if (action === 'plan') throw new UsageFailure(`${form} plan, with --lose, --join or --drain <nodes...>`);
  if (action === 'confirm') throw new UsageFailure(`${form} confirm`);
  if (action === 'moves') throw new UsageFailure(`${form} moves, with --resource <text> or --node <name>`);
}

async function showAll(session: Session, operator: Operator): Promise<void> {
  session.output.result(await operator.call(OPERATIONS.groups), groupsText);
}

function groupNamed(operator: Operator, group: string): Promise<AnswerOf<'group'>> {
  return operator.call(OPERATIONS.group, { params: { group }, query: { limit: MOST_RESOURCES } });
}

async function showOne(session: Session, operator: Operator, group: string): Promise<void> {
  session.output.result(await groupNamed(operator, group), groupText);
}

async function moves(session: Session, operator: Operator, group: string, options: Options): Promise<void> {
  const { resource, node, limit } = options;
  const sent = { params: { group }, query: { resource, node, limit } };
  session.output.result(await operator.call(OPERATIONS.moves, sent), movesText);
}

async function plan(session: Session, operator: Operator, group: string, options: Options): Promise<void> {
  const { lose, drain, join } = options;
  const body = { lose, drain, join: join?.map((node) => ({ node })) };
  session.output.result(await operator.call(OPERATIONS.planAllocation, { params: { group }, body }), planText);
}

/** @throws UsageFailure if an argument is missing or too many are given */
function orderOf(
  group: string,
  action: Exclude<Action, 'plan' | 'moves' | 'confirm'>,
  subject: string | undefined,
  node: string | undefined,
): Order {
  const form =
    action === 'pin' ? 'pin <resource> <node>' : action === 'unpin' ? 'unpin <resource>' : `${action} <node>`;
  const isComplete = subject !== undefined && (action === 'pin') === (node !== undefined);
  if (!isComplete) throw new UsageFailure(`give: allocation <group> ${form}`);
  if (action === 'pin') return { group, action, resource: subject, node };
  return action === 'unpin' ? { group, action, resource: subject } : { group, action, node: subject };
}

/** With `--dry-run`, and before it asks, shows what would move. Otherwise an order needs no plan, which may be impossible now. */
async function change(
  session: Session,
  operator: Operator,
  order: Order,
  { reason, ...care }: Options,
): Promise<ExitCode | void> {
  const { group, action, resource, node } = order;
  const subject = [resource, node].filter((each) => each !== undefined).join(' on ');
  const give = async () => {
    const sent = { params: { group }, body: { resource, node, reason } };
    const { done } = await operator.call(ORDERS[action], sent);
    // A misspelt name must not look like nothing to do.
    if (!done && isEnd(action)) throw new CommandFailure(EXIT.conflict, plain(`${group}: ${NONE[action]} ${subject}`));
    const text = done ? DONE[action] : 'nothing to do, it has this order already:';
    session.output.result({ ...order, done }, () => plain(`${group}: ${text} ${subject}`));
  };
  if (!care.dryRun && (care.yes || !session.canAsk)) return give();
  const request = requestOf(order);
  const { sentences, moves } = request
    ? await operator.call(OPERATIONS.planAllocation, { params: { group }, body: request })
    : { sentences: ['the node may own resources again'], moves: [] };
  return withCare(session, care, {
    plan: { ...order, moves, sentences },
    sentence: plain(`${action} ${subject} in ${group} (${sentences.join('; ') || 'nothing moves'})`),
    change: give,
  });
}

/** Confirms the set that it shows, and no smaller one. */
async function confirmSet(
  session: Session,
  operator: Operator,
  group: string,
  { reason, ...care }: Options,
): Promise<ExitCode | void> {
  const { doubt } = await groupNamed(operator, group);
  if (!doubt) throw new CommandFailure(EXIT.conflict, plain(`${group}: no set of resources is in doubt`));
  const { left, known, node } = doubt;
  const order = { group, action: 'confirm-resources', left };
  const set = `the set of ${node}, which has ${left} of ${known} known resources`;
  const give = async () => {
    const sent = { params: { group }, body: { left, reason } };
    const { done } = await operator.call(OPERATIONS.confirmResources, sent);
    const changed = `${group}: the set is another one by now, or no longer in doubt: look again`;
    if (!done) throw new CommandFailure(EXIT.conflict, plain(changed));
    session.output.result({ ...order, done }, () => plain(`${group}: confirmed ${set}`));
  };
  const sentence = plain(`confirm ${set}, in ${group} (the other ${known - left} lose their owners)`);
  return withCare(session, care, { plan: { ...order, known, node }, sentence, change: give });
}

const { pin, unpin, drain, undrain } = OPERATIONS;
/** They differ only in what a body must have. */
const ORDERS: Record<OrderAction, Operation<z.ZodObject, z.ZodObject, z.ZodType, typeof pin.answer>> = {
  pin,
  unpin,
  drain,
  undrain,
};

type OrderAction = 'pin' | 'unpin' | 'drain' | 'undrain';

/** A change of who may own the resources of a group. */
interface Order {
  readonly group: string;
  readonly action: OrderAction;
  readonly resource?: string;
  readonly node?: string;
}

const DONE: Record<Order['action'], string> = {
  pin: 'pinned',
  unpin: 'unpinned',
  drain: 'drains',
  undrain: 'drains no more:',
};

const NONE = { unpin: 'there is no pin of', undrain: 'there is no drain of' } as const;

function isEnd(action: Order['action']): action is keyof typeof NONE {
  return action in NONE;
}

/** @returns undefined for an undrain, which no plan can try */
function requestOf({ action, resource, node }: Order): BodyOf<'planAllocation'> | undefined {
  switch (action) {
    case 'pin':
      return { pin: [{ resource: resource!, node: node! }] };
    case 'unpin':
      return { unpin: [resource!] };
    case 'drain':
      return { drain: [node!] };
    case 'undrain':
      return undefined;
  }
}
