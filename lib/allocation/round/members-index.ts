import type { GroupEntry, MemberEntry, MemberPage, MembersReading } from '../../core/members/index.js';

/** A node's entry, and its part in one group. */
export interface GroupMember {
  readonly entry: MemberEntry;
  readonly part: GroupEntry;
}

interface PageIndex {
  /** The nodes of the page, and whether they have left: what concerns all groups, and no heartbeat changes. */
  readonly nodes: string;
  readonly byGroup: ReadonlyMap<string, readonly GroupMember[]>;
}

interface ReadingIndex {
  /** The newest beat of each incarnation. */
  readonly newest: ReadonlyMap<string, number>;
  /** Incarnations that their nodes have given up, by the place of their page. */
  readonly ended: readonly (readonly string[])[];
}

// Pages and readings never change, and all groups of a node see the same ones. Without an index each group would search
// the entries of all groups.
const pages = new WeakMap<MemberPage, PageIndex>();
const readings = new WeakMap<MembersReading['pages'], ReadingIndex>();

/** The index of a page, made once for all groups. */
export function indexOf(page: MemberPage): PageIndex {
  return pages.get(page) ?? kept(pages, page, indexedPage(page));
}

/** The index of a reading, made once for all groups. */
export function indexOfReading(reading: MembersReading['pages']): ReadingIndex {
  return readings.get(reading) ?? kept(readings, reading, indexedReading(reading));
}

function kept<Key extends object, Value>(map: WeakMap<Key, Value>, key: Key, value: Value): Value {
  map.set(key, value);
  return value;
}

function indexedPage({ born, entries }: MemberPage): PageIndex {
  const byGroup = new Map<string, GroupMember[]>();
  for (const entry of entries) {
    for (const part of entry.groups ?? []) {
      const members = byGroup.get(part.group);
      if (!members) byGroup.set(part.group, [{ entry, part }]);
      // If an entry has a group twice, its first part counts.
      else if (members.at(-1)!.entry !== entry) members.push({ entry, part });
    }
  }
  const nodes = entries.map(({ inc, ended, former }) => JSON.stringify([inc, ended, former]));
  return { nodes: JSON.stringify([born, nodes.toSorted()]), byGroup };
}

function indexedReading(reading: MembersReading['pages']): ReadingIndex {
  const newest = new Map<string, number>();
  for (const { inc, beat } of reading.flatMap((page) => page?.entries ?? [])) {
    newest.set(inc, Math.max(beat, newest.get(inc) ?? 0));
  }
  const ended = reading.map((page) => {
    // A node that could not read its page has an entry in another page, too.
    const present = page?.entries.filter(({ inc, beat }) => newest.get(inc) === beat) ?? [];
    const left = present.filter((entry) => entry.ended).map(({ inc }) => inc);
    return [...left, ...present.flatMap(({ former }) => former ?? [])];
  });
  return { newest, ended };
}
