/** The part of the package `pg` that is used. */
interface Pg {
  readonly Pool: new (config: object) => object;
}

/** Undefined if pg is not installed. */
declare function loadPg(): Pg | undefined;
export = loadPg;
