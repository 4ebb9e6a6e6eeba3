/**
 * Roles of visitors. Each has the rights of those before it, and more. view: look. operate: pause, resume, revoke,
 * migrate, and take permits. define: change definitions. node: use the store itself, as a node of another application
 * does.
 */
export const ROLES = ['view', 'operate', 'define', 'node'] as const;

/**
 * Role of a console token or visitor. Each has the rights of those before it, and more. `view`: look. `operate`: pause,
 * resume, revoke, migrate, and take permits. `define`: change definitions. `node`: use the store, as `remote()` does.
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
