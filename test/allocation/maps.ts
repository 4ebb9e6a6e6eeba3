import type { OwnedPage } from '../../lib/allocation/map/page.js';
import type { AllocationRoot } from '../../lib/allocation/map/root.js';
import { planRound } from '../../lib/allocation/round/plan-round.js';
import type { ParticipantEntry, RegistryView } from '../../lib/allocation/round/registry-view.js';
import type { Round, RoundInput } from '../../lib/allocation/round/round.js';
import { finish } from './divisions.js';

export const LEASE = 10_000;
export const TOLERANCE = 500;
export const NOW = 1_800_000_000_000;

export function aRoot(changes: Partial<AllocationRoot> = {}): AllocationRoot {
  return {
    v: 1,
    nonce: 'before',
    born: 'b1',
    seq: 7,
    term: 1,
    at: NOW,
    lease: LEASE,
    lastToken: 100,
    members: new Map(),
    limbo: [],
    lost: [],
    grace: false,
    ...changes,
  };
}

/** A page of resources with one letter each, all with one token. */
export const aPage = (letters: string, token = 50): OwnedPage => ({ v: 1, owned: [[token, [...letters]]] });

export function anEntry(inc: string, changes: Partial<ParticipantEntry> = {}): ParticipantEntry {
  const node = inc.split('#')[0]!;
  const acked = { born: 'b1', seq: 7 };
  const lease = { beat: 1, expiresAt: NOW + LEASE, duration: LEASE };
  return { inc, node, instance: node, startedAt: NOW, weight: 1, ...lease, acked, top: 0, ...changes };
}

/** The registry as a leader sees it that has watched it for long. */
export function aRegistry(entries: readonly ParticipantEntry[], changes: Partial<RegistryView> = {}): RegistryView {
  const living = new Map(entries.map((entry) => [entry.inc, entry]));
  return { readFrom: 100_000, watchedSince: 0, living, ended: new Set(), vanished: new Set(), ...changes };
}

export function anInput(changes: Partial<RoundInput> = {}): RoundInput {
  return {
    found: aRoot(),
    copy: undefined,
    pages: { owned: new Map(), limbo: new Map() },
    readAt: 100_000,
    bornSeenAt: 0,
    registry: aRegistry([]),
    resources: [],
    orders: { pins: new Map(), drained: new Set() },
    options: { lease: LEASE, tolerance: TOLERANCE, isSettled: true },
    leadership: { term: 1, isConfirmed: false },
    now: NOW,
    nonce: 'n1',
    ...changes,
  };
}

export const planned = (changes: Partial<RoundInput>): Round => finish(planRound(anInput(changes)));

/** The input of the round after a commit. */
export function after(input: Partial<RoundInput>, round: Round): Partial<RoundInput> {
  if (round.kind === 'idle') return input;
  const owned = new Map([...(input.pages?.owned ?? []), ...round.owned]);
  const limbo = new Map([...(input.pages?.limbo ?? []), ...round.limbo]);
  return { ...input, found: round.root, pages: { owned, limbo }, nonce: `${input.nonce ?? 'n1'}+` };
}

/** "a#0:ab@50 b#0:c@50 limbo:d(a#0/8)" of the root that a round writes. */
export function mapOf({ found, pages }: Partial<RoundInput>): string {
  const members = [...found!.members].map(([inc, keys]) => {
    const items = keys.flatMap((key) => pages!.owned.get(key)?.owned ?? []);
    return `${inc}:${items.map(([token, ids]) => `${ids.join('')}@${token}`).join(',')}`;
  });
  const limbo = found!.limbo.flatMap((key) => pages!.limbo.get(key)?.limbo ?? []);
  const waiting = limbo.map(([from, seq, ids]) => `limbo:${ids.join('')}(${from}/${seq})`);
  return [...members, ...waiting].join(' ');
}
