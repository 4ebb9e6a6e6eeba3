import type { MoveHistory } from './move-history.js';
import type { OwnersChange } from './move-answers.js';
import { eachInPieces, inSlices, type Pieces } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import type { AllocationRoot } from '../map/root.js';
import type { GroupRegistry } from '../round/group-registry.js';
import type { CommitRound, RoundInput } from '../round/round.js';
import { movesOf } from './owner-moves.js';
import { type OwnerStep, type Taken, stepsOf } from './owner-steps.js';

/** As many as a group may have resources. */
const MOST_TAKEN = 100_000;

const KINDS = { changed: 'moved', restored: 'restored', 'grace-over': 'confirmed' } as const;

interface PendingCommit {
  readonly input: RoundInput;
  readonly round: CommitRound;
}

/**
 * Reports each change that this node, as the leader, made to the owner map: by an event, and by an entry of the history.
 * A commit without an answer is reported when the store shows that it was applied.
 */
export class MoveRecorder {
  /** The last round that was to be committed, until it is known to be applied. */
  #attempt: PendingCommit | undefined;
  /** Resources that were taken from their owners and have no next owner yet. The oldest first. */
  readonly #taken = new Map<string, Taken>();

  constructor(
    private readonly group: string,
    private readonly context: Context,
    private readonly moves: MoveHistory,
    private readonly registry: Pick<GroupRegistry, 'nodeOf'>,
  ) {}

  /** Call this before a commit. */
  expect(input: RoundInput, round: CommitRound): void {
    this.#attempt = { input, round };
  }

  /** Call this with each root that the store has. */
  async seen(root: AllocationRoot | undefined): Promise<void> {
    const attempt = this.#attempt;
    if (attempt === undefined || attempt.round.root.nonce !== root?.nonce) return;
    this.#attempt = undefined;
    const { group, context, moves } = this;
    const [revoked, granted] = [attempt.round.revoked.length, attempt.round.granted.length];
    if (revoked + granted > 0) context.events.next({ type: 'allocation-changed', group, revoked, granted });
    const change = await inSlices(this.#changeOf(attempt), context.nodeClock);
    if (change.total > 0 || change.kind !== 'moved') moves.note(change);
  }

  /** Forgets everything: this node does not lead any more. */
  reset(): void {
    this.#attempt = undefined;
    this.#taken.clear();
  }

  *#changeOf({ input, round }: PendingCommit): Pieces<Omit<OwnersChange, 'node'>> {
    const { group, registry } = this;
    const nodeOf = (incarnation: string) => registry.nodeOf(incarnation);
    const steps = yield* stepsOf({ input, round, taken: this.#taken, nodeOf });
    yield* eachInPieces(steps, (step) => this.#remember(step));
    const { at, seq: version } = round.root;
    return { group, at, version, kind: KINDS[round.why], total: steps.length, moves: yield* movesOf(steps) };
  }

  #remember({ step, resource, from, fromInstance, why }: OwnerStep): void {
    this.#taken.delete(resource);
    // A resource that comes back into the set is a new one.
    if (step === 'taken' && from !== undefined && why !== 'removed')
      this.#taken.set(resource, { from, why, ...(fromInstance !== undefined && { fromInstance }) });
    if (this.#taken.size > MOST_TAKEN) this.#taken.delete(this.#taken.keys().next().value!);
  }
}
