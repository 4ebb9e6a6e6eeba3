/**
 * Base class of every error that this package throws. `code` is stable across versions, so programs should compare it.
 * The message is for people. It names the field and the value, and says what to do next.
 */
export abstract class GatekeeperError extends Error {
  /** Stable name of the error, for programs. */
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
