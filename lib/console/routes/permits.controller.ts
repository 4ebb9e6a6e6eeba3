import { randomUUID } from 'node:crypto';
import { GatekeeperService, type ProxiedAnswer } from '../../gatekeeper/index.js';
import { type InputOf, type PermitAnswer, type ProblemCode, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Departure } from '../http/departure.decorator.js';
import { Input, User } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/serves.decorator.js';

/** Permits for those who are no nodes: scripts, other languages. Any node may refresh or release them. */
@ConsoleController()
export class PermitsController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.take)
  async take(
    @Input() { body }: InputOf<typeof ROUTES.take>,
    @User() user: string,
    @Departure() departure: AbortSignal,
  ): Promise<PermitAnswer> {
    const { wait, holder = randomUUID(), acquirer = user, ...rest } = body;
    const request = { ...rest, holder, acquirer, instance: instanceOf(user) };
    const answer = await this.gatekeeper.proxied.take(request, { wait, signal: departure });
    return told(body.semaphore, answer);
  }

  @Serves(ROUTES.refresh)
  async refresh(
    @Input() { params: { id }, body }: InputOf<typeof ROUTES.refresh>,
    @User() user: string,
  ): Promise<PermitAnswer> {
    const { semaphore, token, duration } = body;
    const permit = { semaphore, id, token, instance: instanceOf(user) };
    return told(semaphore, await this.gatekeeper.proxied.refresh(permit, { duration }));
  }

  @Serves(ROUTES.release)
  async release(
    @Input() { params: { id }, body: { semaphore } }: InputOf<typeof ROUTES.release>,
    @User() user: string,
  ): Promise<{ released: boolean }> {
    return { released: await this.gatekeeper.proxied.release({ semaphore, id, instance: instanceOf(user) }) };
  }
}

/** One token's permits are no other's to refresh or release. */
function instanceOf(user: string): string {
  return `http:${user}`;
}

/** @throws ProblemError when it was denied */
function told(semaphore: string, answer: ProxiedAnswer): PermitAnswer {
  if (answer.outcome === 'granted') {
    const { id, holder, slot, token, grantedAt, expiresAt } = answer.permit;
    return { semaphore, id, holder, slot, token, grantedAt, expiresAt, remaining: answer.remaining };
  }
  const { reason } = answer;
  const holders = answer.holders.map((each) => ({ ...each }));
  throw new ProblemError(codeOf(reason), `no permit of semaphore ${JSON.stringify(semaphore)}: ${reason}`, {
    reason,
    holders,
  });
}

function codeOf(reason: string): ProblemCode {
  return reason === 'permit-lost' || reason === 'closing' ? reason : 'denied';
}
