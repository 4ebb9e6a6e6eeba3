/** Identity of one running process of the application, for permits and patterns. */
export interface NodeIdentity {
  /** Zone or environment; group patterns match it. */
  readonly group: string;
  /** Name of the node; acquirer patterns match it. */
  readonly acquirer: string;
  /** Random, new at each start of the process. */
  readonly instance: string;
}

/** Begin of the instance of a client that takes permits or tasks over HTTP. Such a client is no node, and has no heartbeat. */
export const EXTERNAL_PREFIX = 'http:';

/** Sorts nodes by group, acquirer and instance. */
export function byName(one: NodeIdentity, other: NodeIdentity): number {
  const [name, otherName] = [nameOf(one), nameOf(other)];
  return name < otherName ? -1 : Number(name > otherName);
}

function nameOf({ group, acquirer, instance }: NodeIdentity): string {
  return `${group}\n${acquirer}\n${instance}`;
}
