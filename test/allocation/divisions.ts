import fc from 'fast-check';
import type { Pieces } from '../../lib/core/async/slices.js';
import { type AssignRequest, type Assignment, assign } from '../../lib/allocation/assign/assign.js';
import type { WeightedParticipant } from '../../lib/allocation/assign/participant.js';

/** Does all pieces at once. */
export function finish<T>(pieces: Pieces<T>): T {
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

export type Owners = ReadonlyMap<string, string>;

export const assigned = (request: AssignRequest): Assignment => finish(assign(request));

/** Owners after all revocations and grants of an assignment. */
export function ownersAfter({ current }: AssignRequest, { keep, grant }: Assignment): Map<string, string> {
  const kept = keep.map((resource) => [resource, current.get(resource)!] as const);
  return new Map([...kept, ...grant.map(({ resource, to }) => [resource, to] as const)]);
}

/** Number of resources of each participant. */
export function sharesOf(owners: Owners, participants: readonly WeightedParticipant[]): Map<string, number> {
  const shares = new Map(participants.map(({ id }) => [id, 0]));
  for (const owner of owners.values()) shares.set(owner, shares.get(owner)! + 1);
  return shares;
}

/** Requests with unequal weights, drained nodes, owners that are gone, and resources that left the set. */
export function anyRequest({ pins = false } = {}): fc.Arbitrary<AssignRequest> {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  return fc
    .record({
      resources: fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }),
      participants: fc.uniqueArray(fc.record({ id: fc.constantFrom(...ids), weight: fc.nat(3) }), {
        selector: ({ id }) => id,
        maxLength: 5,
      }),
      owners: fc.array(fc.option(fc.constantFrom(...ids)), { minLength: 41, maxLength: 41 }),
      pinned: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.constantFrom(...ids)), {
        selector: ([resource]) => resource,
        maxLength: pins ? 12 : 0,
      }),
    })
    .map(({ resources, participants, owners, pinned }) => ({
      resources: resources.map(named),
      participants,
      current: new Map(owners.flatMap((owner, index) => (owner === null ? [] : [[named(index), owner] as const]))),
      pins: new Map(pinned.map(([resource, id]) => [named(resource), id])),
    }));
}

const named = (index: number) => `r${String(index).padStart(2, '0')}`;
