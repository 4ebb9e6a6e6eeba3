import { z } from 'zod';
import { storedText } from '../decision/index.js';

/** Identity of one running process of the application, for permits and patterns. */
export interface NodeIdentity {
  /** Zone or environment; group patterns match it. */
  readonly group: string;
  /** Name of the node; acquirer patterns match it. */
  readonly acquirer: string;
  /** Random, new at each start of the process. */
  readonly instance: string;
}

/** zod type of a node in an entry that any node may have written. */
export const nodeSchema: z.ZodType<NodeIdentity> = z.object({
  group: storedText,
  acquirer: storedText,
  instance: storedText,
});

const PROGRAM = 'http:';

/** The instance of a program that holds permits or claims tasks over HTTP. It contains the name of the program's token. */
export function instanceOfProgram(token: string): string {
  return PROGRAM + token;
}

/** Whether an instance is a program that uses the HTTP API, and so no node. */
export function isProgram(instance: string): boolean {
  return instance.startsWith(PROGRAM);
}

/** Sorts nodes by group, acquirer and instance. */
export function byName(one: NodeIdentity, other: NodeIdentity): number {
  const [name, otherName] = [nameOf(one), nameOf(other)];
  return name < otherName ? -1 : Number(name > otherName);
}

function nameOf({ group, acquirer, instance }: NodeIdentity): string {
  return `${group}\n${acquirer}\n${instance}`;
}
