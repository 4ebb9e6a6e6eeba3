import type { Pieces } from '../../core/async/slices.js';

/** Does the same as Map.groupBy, which Node 20 does not have. */
export function groupedBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}

/** Does the same in pieces, for thousands of items. */
export function* groupedInPieces<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Pieces<Map<Key, Item[]>> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    addTo(groups, keyOf(item), item);
    yield 1;
  }
  return groups;
}

function addTo<Item, Key>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const group = groups.get(key);
  if (group) group.push(item);
  else groups.set(key, [item]);
}
