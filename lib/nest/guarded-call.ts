/** The decorated method. */
export interface Place {
  /** The prototype of the class that has the method. */
  readonly target: object;
  readonly property: string | symbol;
}

/** A call of a guarded method. */
export interface GuardedCall {
  readonly instance: object | undefined;
  readonly place: Place;
  readonly args: never[];
  /** Calls the method itself. */
  readonly work: () => unknown;
}
