import { FORMAT } from '../copies/shared.js';

/** Brand of the errors of all copies of this package. */
const BRAND: unique symbol = Symbol.for(`nestjs-gatekeeper (format ${FORMAT}): error`);

/**
 * Base class of every error that this package throws. `code` is stable across versions, so programs should compare it.
 * The message is for people. It names the field and the value, and says what to do next.
 *
 * `instanceof` also holds for the errors of another copy of this package in the process: classes are compared by
 * `className`, not by identity.
 */
export abstract class GatekeeperError extends Error {
  /** Name of the class, also where a bundler has renamed it. */
  static readonly className: string = 'GatekeeperError';

  /** Stable name of the error, for programs. */
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = Object.hasOwn(new.target, 'className') ? new.target.className : new.target.name;
  }

  /** A getter of the prototype: a field would be printed with each error. */
  get [BRAND](): true {
    return true;
  }

  /** Whether a value is an error of this class, or of the class of that name in another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    // A subclass by an application has no name of its own here, and only its own instances.
    return Object.hasOwn(this, 'className') && isNamed(value, this.className);
  }
}

function isNamed(value: unknown, className: string): boolean {
  if (typeof value !== 'object' || value === null || !(BRAND in value)) return false;
  for (let each: unknown = value; each; each = Object.getPrototypeOf(each)) {
    const { constructor } = each as { readonly constructor: { readonly className?: string } };
    if (Object.hasOwn(constructor, 'className') && constructor.className === className) return true;
  }
  return false;
}
