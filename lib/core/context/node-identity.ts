import { z } from 'zod';
import { named } from '../decision/answer-values.js';
import { storedText } from '../decision/index.js';

const identitySchema = z
  .object({
    group: z.string().meta({ description: 'zone or environment; group patterns match it' }),
    acquirer: z.string().meta({ description: 'name of the node; acquirer patterns match it' }),
    instance: z.string().meta({ description: 'random, new at each start of the process' }),
  })
  .meta({ id: 'NodeIdentity' });

/** Identity of one running process of the application, for permits and patterns. */
export interface NodeIdentity extends Readonly<z.output<typeof identitySchema>> {}

/** A node in an answer. */
export const nodeIdentitySchema = named<NodeIdentity>(identitySchema);

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
