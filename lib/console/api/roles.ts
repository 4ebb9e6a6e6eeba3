/**
 * Roles of visitors. Each includes the rights of those before it: view: look; operate: pause, resume, revoke, migrate
 * and take permits; define: change definitions; node: act as a node of the cluster and use the store itself.
 */
export const ROLES = ['view', 'operate', 'define', 'node'] as const;

/** Role of a console token or visitor: `view`, `operate`, `define` or `node`. Each includes those before it. */
export type Role = (typeof ROLES)[number];

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

/** Whether `role` may do what takes `needed`. */
export function includes(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
