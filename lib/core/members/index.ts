export { Membership } from './membership.js';
export { type MemberLook, type MemberState, lookAtMembers } from './member-look.js';
export { metadataSchema } from './metadata.js';
export type { GroupEntry, MemberEntry, MemberPage, ShrunkSet } from './member-page.js';
export type { MembersReading } from './member-pages.js';
