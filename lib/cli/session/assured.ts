import type { Health, HealthFaultCode, StalePart } from '../../gatekeeper/index.js';
import { CommandFailure, EXIT, exitCodeOf } from '../options/exit-code.js';
import type { Operator, TaskOperator } from '../operator/operator.js';
import { outageLines } from '../views/health.view.js';

/*
 * A store that is lost, or that lacks its quorum, may answer with nothing at all: a client may see the smaller side of a
 * split, and a node shows what it knew. So "no runs" and "no such entry" are answers only if the target knows the present
 * state. This is checked here, once for all commands:
 *
 *   call                        the target is asked for its health
 *   reads                       after every answer
 *   changes, explains           if nothing was found to change or to explain: a change that was made needed the store
 *   tells of outages by itself  never
 *
 * The health is asked for after the answer, so an outage that began in between is found too.
 */

type Name = Exclude<keyof Operator | keyof TaskOperator, symbol>;

const TELLING: ReadonlySet<PropertyKey> = new Set<Name>(['target', 'health', 'look', 'hints', 'testAlerts']);

const READING: ReadonlySet<PropertyKey> = new Set<Name>([
  'overview',
  'holding',
  'nodes',
  'leaders',
  'history',
  'jobs',
  'audit',
  'maintenance',
  'maintenanceWindow',
  'planMigration',
  'planUndo',
  'planRun',
  'runRequest',
  'allocationGroups',
  'allocationGroup',
  'allocationMoves',
  'planAllocation',
  'types',
  'list',
  'find',
]);

/** Faults with which no answer of the target is the present state. */
const LOST: ReadonlySet<HealthFaultCode> = new Set<HealthFaultCode>([
  'closing',
  'store-unreachable',
  'no-quorum',
  'store-silent',
  'store-failing',
]);

/**
 * An operator whose answers are the present state.
 *
 * @returns an operator like the given one. Its calls also reject with a CommandFailure with the exit code `unreachable` if
 *   the target does not know the present state, as the table above says
 */
export function assured(operator: Operator): Operator {
  const tasks = checked(operator.tasks, operator);
  return new Proxy(checked(operator, operator), {
    get: (target, name) => (name === 'tasks' ? tasks : Reflect.get(target, name)),
  });
}

function checked<T extends object>(part: T, operator: Operator): T {
  return new Proxy(part, {
    get: (_, name) => {
      const value: unknown = Reflect.get(part, name, part);
      if (typeof value !== 'function') return value;
      if (TELLING.has(name) || typeof name === 'symbol') return value.bind(part);
      return async (...args: unknown[]) => check(operator, READING.has(name), async () => value.apply(part, args));
    },
  });
}

async function check(operator: Operator, isReading: boolean, call: () => Promise<unknown>): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    if (exitCodeOf(error) === EXIT.notFound) await expectKnown(operator, undefined, error);
    throw error;
  }
  if (isReading || saysNothing(answer)) await expectKnown(operator, answer);
  return answer;
}

/** @throws CommandFailure if the answer, or the target's health, says that the present state is not known */
async function expectKnown(operator: Operator, answer: unknown, cause?: unknown): Promise<void> {
  const { stale = [] } = (answer ?? {}) as { readonly stale?: readonly StalePart[] };
  const health = await operator.health();
  const why = isLost(health) ? outageLines(health)[0] : stale[0] && `${stale[0].sentence}.`;
  if (why === undefined) return;
  const message = `${why} So the present state is not known at ${operator.target}: "gatekeeper status" shows what is`;
  throw new CommandFailure(EXIT.unreachable, message, { cause });
}

function isLost({ faults }: Health): boolean {
  return faults.some(({ code }) => LOST.has(code));
}

/** Whether a change found nothing to change, or an explanation no definition. */
function saysNothing(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return answer === false;
  if ('reason' in answer) return answer.reason === 'no-definition';
  const lists = Object.values(answer).filter((value) => Array.isArray(value));
  return lists.length > 0 && lists.every(({ length }) => length === 0);
}
