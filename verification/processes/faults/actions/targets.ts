import type { HazelcastMember } from 'nestjs-gatekeeper/testing';
import type { Chance } from '../../../../test/simulation/world/chance.js';
import type { TestBed } from '../test-bed.js';

/** Picks the member that an action is for. */
export type MemberTarget = (testBed: TestBed, chance: Chance) => Promise<HazelcastMember>;

export const anyMember: MemberTarget = async (testBed, chance) => chance.pick(testBed.members);

/** The one that owns the record which most of the others wait for. */
export const ownerOfAKey: MemberTarget = (testBed, chance) =>
  testBed.hazelcast.ownerOf(chance.pick(testBed.defined).name);
