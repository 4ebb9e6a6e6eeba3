import { VERSION } from './version.js';

/**
 * Format of all that copies of this package share in one process: metadata of decorators, names of errors, current permits
 * and services. An application may load several copies: ES modules beside CommonJS, or one per package of a monorepo.
 * Raise it with each incompatible change. Copies of different formats ignore each other, and the boot says so.
 */
export const FORMAT = 1;

/** Begin of the names of all shared symbols, of any format. It never changes. */
const PREFIX = 'nestjs-gatekeeper';

/** Key of something that copies of this package share: a symbol that is the same in all copies of one format. */
export function sharedKey(name: string): symbol {
  return Symbol.for(`${PREFIX} (format ${FORMAT}): ${name}`);
}

/** The format that a key was made with, by whichever copy. Undefined for a key of anything else. */
export function formatOf(key: unknown): number | undefined {
  if (typeof key !== 'symbol') return undefined;
  const [, format] = new RegExp(`^${PREFIX} \\(format (\\d+)\\): `).exec(key.description ?? '') ?? [];
  return format === undefined ? undefined : Number(format);
}

/** A value of which a process has only one, for all copies of one format. @param make makes it for the first copy */
export function shared<T>(name: string, make: () => T): T {
  return only(sharedKey(name), make);
}

function only<T>(key: symbol, make: () => T): T {
  const values = globalThis as { [key: symbol]: unknown };
  return (values[key] ??= make()) as T;
}

/** A copy of this package. Copies of all formats read this, so a field may be added, but none removed. */
export interface Copy {
  readonly version: string;
  readonly format: number;
}

const copies = only<Copy[]>(Symbol.for(`${PREFIX}: copies`), () => []);
copies.push({ version: VERSION, format: FORMAT });

/** Versions of the loaded copies that do not work together with this one. @param format of these only; default: all */
export function incompatibleVersions(format?: number): string[] {
  const others = copies.filter((copy) => (format === undefined ? copy.format !== FORMAT : copy.format === format));
  return [...new Set(others.map(({ version }) => version))];
}
