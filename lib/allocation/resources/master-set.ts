import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { show } from '../../core/decision/index.js';
import { InvalidResourcesError } from '../allocation.errors.js';
import { ascending } from '../assign/assign.js';
import { faultOfId } from '../resource-id.js';

/** Largest number of resources of one group. */
export const MOST_RESOURCES = 100_000;

/** All resources of a group, as one call of the application's `resources` function returned them. */
export interface MasterSet<T = unknown> {
  /** In ascending order. */
  readonly ids: readonly string[];
  readonly items: ReadonlyMap<string, T>;
  /** Same for the same ids. Nodes compare it to find out that their sets differ. */
  readonly digest: string;
}

/** The first faults are enough to find the mistake. */
const MOST_FAULTS = 10;

/**
 * Checks the resources of a group. A group without resources is valid.
 *
 * @param items result of the application's `resources` function
 * @param idOf the application's `id` function
 * @throws InvalidResourcesError for too many resources, and for ids that are given twice, empty, too long or not strings
 * @throws any error of `idOf`
 */
export function* readMasterSet<T>(group: string, items: Iterable<T>, idOf: (item: T) => unknown): Pieces<MasterSet<T>> {
  if (typeof items?.[Symbol.iterator] !== 'function' || typeof items === 'string') {
    throw new InvalidResourcesError(group, [`resources: ${show(items)} is not a list`]);
  }
  const places = new Map<string, number>();
  const byId = new Map<string, T>();
  const faults: string[] = [];
  let place = 0;
  const note = (fault: string) => faults.length < MOST_FAULTS && faults.push(`resources[${place}]: ${fault}`);
  yield* eachInPieces(items, (item) => {
    if (place >= MOST_RESOURCES) throw tooMany(group, items);
    const id = idOf(item);
    const fault = faultOfId(id);
    if (fault !== undefined) note(fault);
    else if (places.has(id as string)) note(twice(id as string, places.get(id as string)!));
    else {
      places.set(id as string, place);
      byId.set(id as string, item);
    }
    place++;
  });
  if (faults.length > 0) throw new InvalidResourcesError(group, faults);
  const ids = yield* ascending([...byId.keys()]);
  return { ids, items: byId, digest: yield* digestOf(ids) };
}

function twice(id: string, first: number): string {
  return `the id ${show(id)} is also that of resources[${first}]: give every resource an id of its own`;
}

/** An endless iterable has no length, so the error does not always know it. */
function tooMany(group: string, items: unknown): InvalidResourcesError {
  const count = Array.isArray(items) ? String(items.length) : `more than ${MOST_RESOURCES}`;
  return new InvalidResourcesError(group, [
    `resources: ${count} are too many, ${MOST_RESOURCES} are possible: divide parts that contain several of them`,
  ]);
}

/** Two independent FNV-1a hashes of 32 bits over all ids, and their number. */
function* digestOf(ids: readonly string[]): Pieces<string> {
  let [one, other] = [0x811c9dc5, 0x050c5d1f];
  const add = (code: number) => {
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x01000193) ^ (other >>> 15);
  };
  yield* eachInPieces(ids, (id) => {
    for (let index = 0; index < id.length; index++) add(id.charCodeAt(index));
    // Not a UTF-16 code unit, so ["ab"] and ["a", "b"] differ.
    add(0x10000);
  });
  return `${ids.length}-${(one >>> 0).toString(16)}${(other >>> 0).toString(16)}`;
}
