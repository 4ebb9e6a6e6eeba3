import type { Operation } from '../../console/api/operation.js';
import type { Health, HealthFaultCode, MaybeStale } from '../../gatekeeper/index.js';
import { CommandFailure, EXIT, exitCodeOf } from '../options/exit-code.js';
import { type Call, OPERATIONS, type Operator } from '../operator/operator.js';
import { outageLines, staleLines } from '../views/health.view.js';

/** Faults with which no answer of the target is the present state. */
const LOST: ReadonlySet<HealthFaultCode> = new Set<HealthFaultCode>([
  'closing',
  'store-unreachable',
  'no-quorum',
  'store-silent',
  'store-failing',
]);

/**
 * An operator whose answers are the present state. A store that is lost, or that lacks its quorum, may answer with nothing
 * at all: a client may see the smaller side of a split, and a node shows what it knew. So "no runs" and "no such entry" are
 * answers only if the target knows the present state:
 *
 * | kind of call | when the target is asked for its health                           |
 * | ------------ | ---------------------------------------------------------------- |
 * | reads        | after every answer                                               |
 * | changes      | if nothing was changed: a change that was made needed the store  |
 * | shows        | never: its command shows an outage itself                        |
 * | any          | if there is nothing of that name                                 |
 *
 * The health is asked for after the answer, so an outage that began in between is found too.
 */
export class AssuredOperator implements Operator {
  constructor(private readonly operator: Operator) {}

  get target(): string {
    return this.operator.target;
  }

  get timeout(): number {
    return this.operator.timeout;
  }

  /** @throws also CommandFailure with the exit code `unreachable`, if the target does not know the present state */
  readonly call: Call = async (operation, sent) => {
    const answer = await this.show(operation, sent);
    if (isReading(operation, sent) || saysNothing(answer)) await this.expectKnown(answer);
    return answer;
  };

  /** A call for people who look on during an outage: the answer may be the last known state. */
  readonly show: Call = async (operation, sent) => {
    try {
      return await this.operator.call(operation, sent);
    } catch (error) {
      if (exitCodeOf(error) === EXIT.notFound) await this.expectKnown(undefined, error);
      throw error;
    }
  };

  /** @throws CommandFailure if an answer, or the target's health, says that the present state is not known */
  async expectKnown(answer?: unknown, cause?: unknown): Promise<void> {
    const health = await this.operator.call(OPERATIONS.health);
    const why = isLost(health) ? outageLines(health)[0] : staleLines((answer ?? {}) as MaybeStale)[0];
    if (why === undefined) return;
    const message = `${why} So the present state is not known at ${this.target}: "gatekeeper status" shows what is`;
    throw new CommandFailure(EXIT.unreachable, message, { cause });
  }

  hints(onHint: () => void, signal: AbortSignal): Promise<void> {
    return this.operator.hints(onHint, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operator[Symbol.asyncDispose]();
  }
}

function isLost({ faults }: Health): boolean {
  return faults.some(({ code }) => LOST.has(code));
}

function isReading({ writes }: Pick<Operation, 'writes'>, { body }: { readonly body?: unknown } = {}): boolean {
  return !writes || (body as { readonly dryRun?: boolean } | undefined)?.dryRun === true;
}

/** Whether a change found nothing to change. */
function saysNothing(answer: unknown): boolean {
  const { removed, revoked, asked, done, ...rest } = answer as Record<string, unknown>;
  if ([removed, revoked, asked, done].includes(false)) return true;
  const lists = Object.values({ done, ...rest }).filter((value) => Array.isArray(value));
  return lists.length > 0 && lists.every(({ length }) => length === 0);
}
