import type { HazelcastMember } from 'nestjs-gatekeeper/testing';
import type { Chance } from '../../simulation/world/chance.js';
import type { Rig } from '../rig.js';

/** Picks the member that a strike is for. */
export type MemberTarget = (rig: Rig, chance: Chance) => Promise<HazelcastMember>;

export const anyMember: MemberTarget = async (rig, chance) => chance.pick(rig.members);

/** The one that owns the record which most of the others wait for. */
export const ownerOfAKey: MemberTarget = (rig, chance) => rig.site.ownerOf(chance.pick(rig.semaphores).name);
