/** Roles of visitors, from the lowest to the highest. */
export const ROLES = ['view', 'operate', 'define', 'node'] as const;

/**
 * Role of a console token or visitor. Each has the rights of those before it, and more:
 *
 * - `view`: look
 * - `operate`: pause, resume, revoke, migrate, undo these, run a job now, take permits for other programs, submit, claim,
 *   cancel and retry tasks
 * - `define`: define, edit, reset and remove
 * - `node`: use the store itself, as the nodes of another application do with `remote()`
 *
 * @useDeclaredType
 */
export type Role = (typeof ROLES)[number];

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

/** Whether `role` has the rights of `needed`. */
export function includes(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
