/** Minifiers rename parameters even if they keep the names of classes. */
function probe(parameterThatMinifiersRename: unknown): unknown {
  return parameterThatMinifiersRename;
}

/** Whether this package is in a minified bundle of the application. */
const isInMinifiedBundle = !String(probe).includes('parameterThatMinifiersRename');

/** Longest names that minifiers give: in a bundle of the application's own code, and in one with all of its packages. */
const [SHORT, LONGER] = [2, 3];

/**
 * Whether the class of a method seems to have a minified name. Each build may give it another one, so nothing that outlives
 * a build may be named after it.
 *
 * @param method "JobsService.export"
 */
export function isOfMinifiedClass(method: string): boolean {
  return method.indexOf('.') <= (isInMinifiedBundle ? LONGER : SHORT);
}
