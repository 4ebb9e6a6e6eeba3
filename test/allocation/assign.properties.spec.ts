import fc from 'fast-check';
import type { AssignRequest } from '../../lib/allocation/assign/assign.js';
import type { WeightedParticipant } from '../../lib/allocation/assign/participant.js';
import { anyRequest, assigned, ownersAfter, sharesOf } from './divisions.js';

const weightsOf = (participants: readonly WeightedParticipant[]) =>
  participants.reduce((sum, { weight }) => sum + weight, 0);

/** Largest difference between a share and its ideal. */
function unevenness(
  owners: ReadonlyMap<string, string>,
  total: number,
  participants: readonly WeightedParticipant[],
): number {
  const weights = weightsOf(participants);
  const shares = sharesOf(owners, participants);
  return Math.max(0, ...participants.map(({ id, weight }) => Math.abs(shares.get(id)! - (total * weight) / weights)));
}

/** The nodes whose pins are not more than their share of what the pins of the other nodes leave. */
function withinShare(
  participants: readonly WeightedParticipant[],
  total: number,
  pinsOf: (id: string) => number,
): readonly WeightedParticipant[] {
  const weights = weightsOf(participants);
  const within = participants.filter(({ id, weight }) => weight === 0 || pinsOf(id) * weights <= total * weight);
  if (within.length === participants.length) return within;
  const gone = participants.filter((each) => !within.includes(each)).reduce((sum, { id }) => sum + pinsOf(id), 0);
  return withinShare(within, total - gone, pinsOf);
}

const withNodes = (request: AssignRequest) => weightsOf(request.participants) > 0;
const balanceMoves = (request: AssignRequest) => assigned(request).revoke.filter(({ why }) => why === 'balance').length;

describe('any division', () => {
  it('gives each resource of the set exactly one living owner, if a node may own any', () => {
    fc.assert(
      fc.property(anyRequest({ pins: true }), (request) => {
        const result = assigned(request);
        const owners = ownersAfter(request, result);
        const given = result.keep.length + result.grant.length;
        expect(given).toBe(owners.size);
        expect([...owners.keys()].toSorted()).toEqual(withNodes(request) ? request.resources.toSorted() : []);
        const able = new Set(request.participants.filter(({ weight }) => weight > 0).map(({ id }) => id));
        expect([...owners.values()].every((owner) => able.has(owner))).toBe(true);
      }),
    );
  });

  it('is even: a share differs from the ideal by less than one', () => {
    fc.assert(
      fc.property(anyRequest(), (request) => {
        fc.pre(withNodes(request));
        const owners = ownersAfter(request, assigned(request));
        expect(unevenness(owners, request.resources.length, request.participants)).toBeLessThan(1 - 1e-9);
      }),
    );
  });

  it('follows the pins to nodes that may own', () => {
    fc.assert(
      fc.property(anyRequest({ pins: true }), (request) => {
        const owners = ownersAfter(request, assigned(request));
        const isAble = (id: string) => request.participants.some((each) => each.id === id && each.weight > 0);
        const effective = [...request.pins!].filter(([resource, id]) => isAble(id) && owners.has(resource));
        expect(effective.map(([resource]) => [resource, owners.get(resource)])).toEqual(effective);
      }),
    );
  });

  it('is even among the nodes whose pins are not more than their share', () => {
    fc.assert(
      fc.property(anyRequest({ pins: true }), (request) => {
        fc.pre(withNodes(request));
        const owners = ownersAfter(request, assigned(request));
        const pinned = new Map([...request.pins!].filter(([resource]) => request.resources.includes(resource)));
        const pinsOf = (id: string) => [...pinned.values()].filter((each) => each === id).length;
        const others = withinShare(request.participants, request.resources.length, pinsOf);
        fc.pre(weightsOf(others) > 0);
        const rest = new Map([...owners].filter(([, owner]) => others.some(({ id }) => id === owner)));
        expect(unevenness(rest, rest.size, others)).toBeLessThan(1 - 1e-9);
      }),
    );
  });

  it('is the same for the same sets in another order', () => {
    fc.assert(
      fc.property(anyRequest({ pins: true }), (request) => {
        const turned = {
          ...request,
          resources: request.resources.toReversed(),
          participants: request.participants.toReversed(),
          current: new Map([...request.current].toReversed()),
        };
        const ofRemoved = ({ revoke, ...rest }: ReturnType<typeof assigned>) => ({ ...rest, revoke: new Set(revoke) });
        expect(ofRemoved(assigned(turned))).toEqual(ofRemoved(assigned(request)));
      }),
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(
        anyRequest({ pins: true }),
        fc.constantFrom('sticky' as const, 'even' as const),
        (request, strategy) => {
          const current = ownersAfter(request, assigned({ ...request, strategy }));
          const { revoke, grant } = assigned({ ...request, current, strategy });
          expect({ revoke, grant }).toEqual({ revoke: [], grant: [] });
        },
      ),
    );
  });

  it('with a limit of moves reaches the same balance in steps, without more moves in all', () => {
    fc.assert(
      fc.property(anyRequest({ pins: true }), fc.integer({ min: 1, max: 4 }), (request, mostMoves) => {
        fc.pre(withNodes(request));
        let [current, moves] = [request.current, 0];
        for (let step = 0; step < 40; step++) {
          moves += balanceMoves({ ...request, current, mostMoves });
          current = ownersAfter({ ...request, current }, assigned({ ...request, current, mostMoves }));
        }
        expect(moves).toBeLessThanOrEqual(balanceMoves(request));
        expect(assigned({ ...request, current })).toMatchObject({ revoke: [], grant: [], deferred: 0 });
      }),
    );
  });
});

/** Fewest resources taken from living participants in all divisions that are as even: tries every one of them. */
function fewestRevocations({ resources, participants, current }: AssignRequest): number {
  const living = new Set(participants.map(({ id }) => id));
  let fewest = Infinity;
  const owners = new Map<string, string>();
  const weights = weightsOf(participants);
  /** One more than allowed is never put right by the resources that follow. */
  const isTooMuch = () =>
    participants.some(({ id, weight }) => {
      const share = [...owners.values()].filter((owner) => owner === id).length;
      return share - (resources.length * weight) / weights >= 1 - 1e-9;
    });
  const tryFrom = (index: number, revoked: number): void => {
    if (revoked >= fewest || isTooMuch()) return;
    if (index === resources.length) {
      if (unevenness(owners, resources.length, participants) < 1 - 1e-9) fewest = revoked;
      return;
    }
    const resource = resources[index]!;
    const from = current.get(resource);
    for (const { id } of participants) {
      owners.set(resource, id);
      tryFrom(index + 1, revoked + (from !== undefined && from !== id && living.has(from) ? 1 : 0));
    }
    owners.delete(resource);
  };
  tryFrom(0, 0);
  return fewest;
}

/** All owners of up to six resources, for all weights from 0 to 2 of up to three nodes. */
function* smallWorlds(): Generator<AssignRequest> {
  const ids = ['a', 'b', 'c'];
  for (let count = 1; count <= 3; count++) {
    for (const weights of wordsOf(3, count)) {
      const participants = weights.map((weight, index) => ({ id: ids[index]!, weight }));
      if (weightsOf(participants) === 0) continue;
      for (let size = 1; size <= 5; size++) {
        const resources = Array.from({ length: size }, (_, index) => `r${index}`);
        // Owner 0 is none.
        for (const owners of wordsOf(count + 1, size)) {
          const current = new Map(
            owners.flatMap((owner, index) => (owner ? [[`r${index}`, ids[owner - 1]!] as const] : [])),
          );
          yield { resources, participants, current };
        }
      }
    }
  }
}

/** All lists of `length` digits below `base`. */
function* wordsOf(base: number, length: number): Generator<number[]> {
  for (let word = 0; word < base ** length; word++) {
    yield Array.from({ length }, (_, place) => Math.floor(word / base ** place) % base);
  }
}

describe('in every small world', () => {
  it('no division that is as even takes fewer resources away', () => {
    let worlds = 0;
    const breaches: unknown[] = [];
    for (const request of smallWorlds()) {
      const revoked = assigned(request).revoke.length;
      const fewest = fewestRevocations(request);
      if (revoked !== fewest) breaches.push({ request, revoked, fewest });
      worlds++;
    }
    expect(breaches).toEqual([]);
    expect(worlds).toBeGreaterThan(30_000);
  });
});
