import { LEADER_PREFIX } from '../../core/decision/index.js';
import {
  type LeadersOverview,
  type TermOverview,
  newestFirst,
  partsOf,
  readLeader,
  readLeaders,
  termsOf,
  type ScopeDetails,
} from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import type { Sees } from '../http/visitor.js';
import { type InputOf, type LeaderAnswer, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, SeenNames, User } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Number of terms of a scope in an answer. */
const MOST_TERMS = 200;

/** Serves the scopes of leadership, and handovers with the visitor's name as the author. */
@ConsoleController()
export class LeadersController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.leaders)
  async list(@SeenNames() sees: Sees): Promise<LeadersOverview> {
    const leaders = await readLeaders(partsOf(this.gatekeeper));
    const scopes = leaders.scopes.filter(({ semaphore }) => !sees || sees(semaphore));
    return { ...leaders, scopes, members: membersFor(leaders, sees) };
  }

  @Serves(ROUTES.leader)
  async one(
    @Input() { params: { scope } }: InputOf<typeof ROUTES.leader>,
    @SeenNames() sees: Sees,
  ): Promise<LeaderAnswer> {
    const details = await readLeader(partsOf(this.gatekeeper), scope);
    const terms = await this.#terms(details);
    return { ...details, members: membersFor(details, sees), ...(terms && { terms }) };
  }

  @Serves(ROUTES.stepDown)
  async stepDown(
    @Input() { params: { scope }, body }: InputOf<typeof ROUTES.stepDown>,
    @User() by: string,
  ): Promise<{ asked: boolean }> {
    return { asked: await partsOf(this.gatekeeper).handovers.stepDown(scope, { ...body, by }) };
  }

  @Serves(ROUTES.transfer)
  async transfer(
    @Input() { params: { scope }, body: { node, ...body } }: InputOf<typeof ROUTES.transfer>,
    @User() by: string,
  ): Promise<{ asked: boolean }> {
    return { asked: await partsOf(this.gatekeeper).handovers.transfer(scope, node, { ...body, by }) };
  }

  /** @returns undefined if the journals can't be read now */
  async #terms({ scope }: ScopeDetails): Promise<TermOverview[] | undefined> {
    const query = { semaphore: LEADER_PREFIX + scope.scope, limit: MOST_TERMS };
    try {
      const [runs, audit] = await Promise.all([
        newestFirst(query, (limit) => this.gatekeeper.history(limit)),
        newestFirst(query, (limit) => this.gatekeeper.audit.read(limit)),
      ]);
      return termsOf(scope, runs, audit);
    } catch (error) {
      if (error instanceof StoreUnavailableError) return undefined;
      throw error;
    }
  }
}

/** The members, each with the scopes that the visitor may see. */
function membersFor({ members }: Pick<LeadersOverview, 'members'>, sees: Sees): LeadersOverview['members'] {
  if (!sees) return members;
  return members.map(({ scopes, ...member }) => ({
    ...member,
    ...(scopes && { scopes: scopes.filter((scope) => sees(LEADER_PREFIX + scope)) }),
  }));
}
