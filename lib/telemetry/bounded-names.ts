/** The value of an attribute for names beyond the limit, as in OpenTelemetry's conventions. */
export const OTHER = '_OTHER';

/** Lets the first names through, and gives all later ones one name. So the number of time series is limited. */
export class BoundedNames {
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
