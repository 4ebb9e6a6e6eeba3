/** Minifiers rename parameters even if they keep the names of classes. */
function probe(parameterThatMinifiersRename: unknown): unknown {
  return parameterThatMinifiersRename;
}

/** Whether this package is in a minified bundle of the application. */
const isInMinifiedBundle = !String(probe).includes('parameterThatMinifiersRename');

/** Longest names that minifiers give: in a bundle of the application's own code, and in one with all of its packages. */
const [SHORT, LONGER] = [2, 3];

/** The name that `mixin()` of Nest gives to a class: 21 random hexadecimal digits. */
const MIXIN = /^[0-9a-f]{21}$/;

/** Random ids and times that programs put into names: a UUID, many digits, or letters and digits that alternate often. */
const MADE_UP = [
  /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/i,
  /\d{9}/,
  /(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12}/i,
  /(?:\d+[a-z]+){3}|(?:[a-z]+\d+){3}/,
];

/** The name in the source of a class: "class Reports extends Base {". */
const SOURCE = /^class\s+([\p{ID_Continue}$]+)/u;

/** Why the name of a class is not the same in each process and after each build. */
export type UnstableName = 'minified' | 'made-up';

/**
 * Finds out whether the name of a method's class may be another one on another node, or after the next build. Then nothing
 * that nodes share, or that outlives a build, may be named after it. Undefined if the name seems to be the same everywhere.
 */
export function unstableName({ type }: { readonly type: { readonly name: string } }): UnstableName | undefined {
  if (type.name.length <= (isInMinifiedBundle ? LONGER : SHORT)) return 'minified';
  return isMadeUp(type) ? 'made-up' : undefined;
}

/** A name of the source is the same everywhere, whatever it looks like. Bundlers write a name that they keep over a short one. */
function isMadeUp(type: { readonly name: string }): boolean {
  const [, source] = SOURCE.exec(Function.prototype.toString.call(type)) ?? [];
  if (source === type.name) return false;
  return MIXIN.test(type.name) || MADE_UP.some((pattern) => pattern.test(type.name));
}
