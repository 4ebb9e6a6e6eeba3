import { createHash } from 'node:crypto';
import type { Incarnation } from './task.js';
import type { AwaitedName } from './submit-options.js';
import { OF_SUB_TASKS, type MemberName, groupId, memberId } from './task-id.js';

/** Type of the groups that count the sub-tasks of one task. No task has it: sub-tasks may be of any type. */
export const FAMILY = '';

/** Characters of a hash: 132 bits. */
const SCOPE = 22;

interface Named {
  readonly type: string;
  readonly id: string;
  readonly member?: MemberName;
}

/** The group that counts the sub-tasks of a task in one of its lives. Its type is {@link FAMILY}. */
export function familyOf(parent: string, incarnation: number): Incarnation {
  return { group: scopeOf(parent), incarnation };
}

/**
 * The name of a sub-task in the whole cluster. It has a hash of the parent's id, so that two parents never share a
 * sub-task, a re-run finds the sub-tasks of the run before, and ids do not grow with the depth.
 */
export function subName<Name extends Named>({ type, id, member, ...others }: Name, parent: string) {
  const prefix = prefixOf(parent);
  if (!member) return { ...others, type, id: `${type}:${prefix}${id.slice(type.length + 1)}` };
  const group = prefix + member.group;
  return { ...others, type, id: memberId(type, group, member.number), member: { ...member, group } };
}

/** Id in the whole cluster of what a sub-task waits for. A name is that of another sub-task, or of a group of them. */
export function subAwaitedId(name: AwaitedName, parent: string): string {
  if (typeof name === 'string') return name;
  return name.group !== undefined ? groupId(name.type, prefixOf(parent) + name.group) : subName(name, parent).id;
}

/** The entry of a sub-task in its parent's list: a task, or a group of tasks, that the parent waits for. */
export function childOf({ type, id, member }: Named): string {
  return member ? groupId(type, member.group) : id;
}

/** An entry of a list, read again. */
export interface Child {
  readonly type: string;
  /** Name of the group in the whole cluster, if it is one. */
  readonly group?: string;
  /** Id of the task in the whole cluster, if it is one. */
  readonly id?: string;
}

/** @param entry made with {@link childOf} */
export function readChild(entry: string, parent: string): Child {
  // A type has neither a colon nor a bracket.
  const at = entry.search(/[:[]/);
  const type = entry.slice(0, at);
  if (entry[at] === ':') return { type, id: `${type}:${prefixOf(parent)}${entry.slice(at + 1)}` };
  return { type, group: prefixOf(parent) + entry.slice(at + 1, -1) };
}

/** Name of a group as its submitter gave it. */
export function givenName(group: string): string {
  return group.startsWith(OF_SUB_TASKS) ? group.slice(group.indexOf('/') + 1) : group;
}

function prefixOf(parent: string): string {
  return `${OF_SUB_TASKS}${scopeOf(parent)}/`;
}

function scopeOf(parent: string): string {
  return createHash('sha256').update(parent).digest('base64url').slice(0, SCOPE);
}
