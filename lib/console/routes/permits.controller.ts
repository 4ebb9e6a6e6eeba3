import { randomUUID } from 'node:crypto';
import { instanceOfProgram } from '../../core/context/node-identity.js';
import { quoted, unreserved } from '../../core/decision/index.js';
import { AlreadyDefinedError, type ExternalAnswer, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type InputOf, type PermitAnswer, type ProblemCode, ROUTES, includes } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { Visitor } from '../http/visitor.js';
import { ClientAbort } from '../http/client-abort.decorator.js';
import { Input, User, VisitorOf } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/handlers.js';
import { expectRole } from '../access/access.guard.js';
import { ChangeRate } from '../access/change-rate.js';
import { Waits } from './waits.js';
import type { SemaphoreDefinitionInput } from '../../core/decision/index.js';

/**
 * Serves permits for external clients: scripts and programs in other languages. A client may ask any node each time.
 */
@ConsoleController()
export class PermitsController {
  readonly #waits = new Waits();

  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly changeRate: ChangeRate,
  ) {}

  @Serves(ROUTES.take)
  async take(
    @Input() { body }: InputOf<typeof ROUTES.take>,
    @VisitorOf() visitor: Visitor,
    @ClientAbort() clientAbort: AbortSignal,
  ): Promise<PermitAnswer> {
    const { wait, definition, holder = randomUUID(), acquirer = visitor.user, ...rest } = body;
    if (definition) await this.#defineFirst(visitor, { name: body.semaphore, ...definition });
    const who = { holder, acquirer, instance: instanceOf(visitor.user) };
    const request = { ...rest, ...who, isBounded: isBounded(visitor) };
    const taking = () => partsOf(this.gatekeeper).external.take(request, { wait, signal: clientAbort });
    const answer = await (wait > 0 ? this.#waits.during(visitor.user, taking) : taking());
    return told(body.semaphore, answer);
  }

  @Serves(ROUTES.refresh)
  async refresh(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.refresh>,
    @VisitorOf() visitor: Visitor,
  ): Promise<PermitAnswer> {
    const { semaphore, token, duration } = body;
    const permit = { semaphore, id, token, instance: instanceOf(visitor.user) };
    const options = { duration, isBounded: isBounded(visitor) };
    return told(semaphore, await partsOf(this.gatekeeper).external.refresh(permit, options));
  }

  @Serves(ROUTES.release)
  async release(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.release>,
    @User() user: string,
  ): Promise<{ released: boolean }> {
    const { semaphore, atLeastFor } = body;
    const permit = { semaphore, id, instance: instanceOf(user) };
    return { released: await partsOf(this.gatekeeper).external.release(permit, { atLeastFor }) };
  }

  /** Defines the semaphore if it is not defined. Leaves an existing definition unchanged. */
  async #defineFirst(visitor: Visitor, definition: SemaphoreDefinitionInput): Promise<void> {
    expectRole(visitor, 'define');
    // No permit of such a name is given, so nothing may be defined for it.
    unreserved(definition.name);
    if (await this.gatekeeper.definitions.get(definition.name)) return;
    this.changeRate.note(visitor, ROUTES.define);
    await this.gatekeeper.definitions.define(definition, { by: visitor.user }).catch((error: unknown) => {
      if (!(error instanceof AlreadyDefinedError)) throw error; // another request came first
    });
  }
}

/** Whether the definition's duration is the maximum. It is not for the role define. */
function isBounded({ role }: Visitor): boolean {
  return !includes(role, 'define');
}

/** The holder's instance contains the token's name, so that a token can't refresh or release permits of another one. */
function instanceOf(user: string): string {
  return instanceOfProgram(user);
}

/** @throws ProblemError if the permit was denied */
function told(semaphore: string, answer: ExternalAnswer): PermitAnswer {
  if (answer.outcome === 'granted') {
    const { id, holder, slot, token, grantedAt, expiresAt } = answer.permit;
    return { semaphore, id, holder, slot, token, grantedAt, expiresAt, remaining: answer.remaining };
  }
  const { reason, freeIn } = answer;
  const holders = answer.holders.map((each) => ({ ...each }));
  throw new ProblemError(codeOf(reason), `no permit of semaphore ${quoted(semaphore)}: ${reason}`, {
    reason,
    holders,
    ...(freeIn !== undefined && { freeIn }),
  });
}

function codeOf(reason: string): ProblemCode {
  return reason === 'permit-lost' || reason === 'closing' ? reason : 'denied';
}
