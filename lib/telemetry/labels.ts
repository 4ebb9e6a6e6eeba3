import { GatekeeperError, nameOfError } from '../core/decision/index.js';
import type { ObservedNode } from '../gatekeeper/telemetry.js';
import { groupType } from '../tasks/rules/task-id.js';

/** Names in the attributes of metrics and in the names of spans: a limited number of each kind. */
export class Labels {
  readonly #semaphores: BoundedNames;
  readonly #jobs: BoundedNames;
  readonly #types: BoundedNames;
  readonly #errors: BoundedNames;

  constructor(
    limit: number,
    private readonly node: Pick<ObservedNode, 'isDeclared' | 'isHandled'>,
    /** The application's name for a semaphore that no code defines. */
    private readonly nameOf?: (semaphore: string) => string | undefined,
  ) {
    [this.#semaphores, this.#jobs, this.#types, this.#errors] = [
      new BoundedNames(limit),
      new BoundedNames(limit),
      new BoundedNames(limit),
      new BoundedNames(limit),
    ];
  }

  semaphore(name: string): string {
    return this.#semaphores.of(this.node.isDeclared(name) ? name : this.#given(name));
  }

  /** Without a name of its own, a job has that of its semaphore. */
  job(job: string, semaphore: string): string {
    return job === semaphore ? this.semaphore(semaphore) : this.#jobs.of(job);
  }

  /** @param type of a task's record */
  task(type: string): string {
    const name = groupType(type);
    return this.#types.isKnown(name) || this.node.isHandled(name) ? this.#types.of(name) : OTHER;
  }

  /** The code of an error of this package, else its class. */
  error(error: unknown): string {
    if (error instanceof GatekeeperError) return this.#errors.of(error.code);
    const name = nameOfError(error);
    return name === undefined ? OTHER : this.#errors.of(name);
  }

  #given(name: string): string {
    try {
      return this.nameOf?.(name) ?? OTHER;
    } catch {
      // Telemetry must not fail the call. The name shows that the function gave none.
      return OTHER;
    }
  }
}

/** The value of an attribute for names beyond the limit, as in OpenTelemetry's conventions. */
const OTHER = '_OTHER';

/** Lets the first names through, and gives all later ones one name. So the number of time series is limited. */
class BoundedNames {
  readonly #known = new Set<string>();

  constructor(private readonly limit: number) {}

  /** Whether it was let through before. */
  isKnown(name: string): boolean {
    return this.#known.has(name);
  }

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.limit) return OTHER;
    this.#known.add(name);
    return name;
  }
}
