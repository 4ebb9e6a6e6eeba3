import { type ArchivedDefinition, isFurther } from './definition-archive.js';

/** What is kept when `definitions` come to those that are there: of each semaphore the further one. */
export function merge(
  there: ReadonlyMap<string, ArchivedDefinition>,
  definitions: readonly ArchivedDefinition[],
): { readonly merged: ReadonlyMap<string, ArchivedDefinition>; readonly news: readonly ArchivedDefinition[] } {
  const news = definitions.filter((each) => isFurther(each, there.get(each.name)));
  return { merged: new Map([...there, ...news.map((each) => [each.name, each] as const)]), news };
}

export function byName(definitions: readonly ArchivedDefinition[]): ReadonlyMap<string, ArchivedDefinition> {
  return new Map(definitions.map((each) => [each.name, each]));
}
