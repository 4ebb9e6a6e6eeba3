import type { Context } from '../../core/context/context.js';
import { TooManyTypesError } from '../rules/tasks.errors.js';

/** Types of tasks that one program may name on one node in {@link SPAN}: each one has queues in the store. */
const MOST_TYPES = 1000;
/** ms for which a type counts after it was named last. */
const SPAN = 600_000;
/** Programs that are remembered. Beyond that, the one that has named no type for the longest time is forgotten. */
const MOST_PROGRAMS = 200;

/** Counts the types of tasks that programs name: each one by itself, so that none uses up those of another one. */
export class TypeBudgets {
  /** When each type was named last (monotonic ms), by program. Those that were named last come last. */
  readonly #programs = new Map<string, Map<string, number>>();

  constructor(private readonly clock: Pick<Context['nodeClock'], 'monotonic'>) {}

  /** Notes the types that a program names. @throws TooManyTypesError if they are too many; then none is noted */
  expect(program: string, types: readonly string[]): void {
    const now = this.clock.monotonic();
    const named = this.#of(program);
    for (const [type, at] of named) {
      if (now - at < SPAN) break;
      named.delete(type);
    }
    const added = new Set(types.filter((type) => !named.has(type)));
    if (named.size + added.size > MOST_TYPES) throw new TooManyTypesError(MOST_TYPES);
    for (const type of types) {
      named.delete(type);
      named.set(type, now);
    }
  }

  #of(program: string): Map<string, number> {
    const named = this.#programs.get(program) ?? new Map<string, number>();
    this.#programs.delete(program);
    this.#programs.set(program, named);
    if (this.#programs.size > MOST_PROGRAMS) this.#programs.delete(this.#programs.keys().next().value!);
    return named;
  }
}
