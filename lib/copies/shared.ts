/**
 * Format of all that copies of this package share in one process: metadata of decorators, names of errors, current permits
 * and services. An application may load several copies: ES modules beside CommonJS, or one per package of a monorepo.
 * Raise it with each incompatible change. Copies of different formats ignore each other, and the boot says so.
 */
export const FORMAT = 1;

/** Key of something that copies of this package share: a symbol that is the same in all copies of one format. */
export function sharedKey(name: string): symbol {
  return Symbol.for(`nestjs-gatekeeper:${name}@${FORMAT}`);
}

/** A value of which a process has only one, for all copies of one format. @param make makes it for the first copy */
export function shared<T>(name: string, make: () => T): T {
  const values = globalThis as { [key: symbol]: unknown };
  return (values[sharedKey(name)] ??= make()) as T;
}
