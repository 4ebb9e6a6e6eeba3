export { Membership } from './membership.js';
export type { MemberState } from './member-state.js';
export { type MembershipSnapshot, readMembership } from './membership-snapshot.js';
export { metadataSchema } from './metadata.js';
export type { GroupEntry, MemberEntry, MemberPage, ShrunkSet } from './member-page.js';
export type { MembersReading } from './member-pages.js';
