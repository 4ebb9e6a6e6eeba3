import { z } from 'zod';
import { compilePattern, onlyFields, patternFault, show } from '../../core/decision/index.js';
import { switchSchema } from '../../core/decision/option-types.js';
import type { TaskTarget } from './task-parts.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';

/** Characters of an instance. */
const LONGEST_INSTANCE = 100;

const patternSchema = z
  .string({ error: ({ input }) => `${show(input)} is not a pattern: give a text` })
  .superRefine((pattern, context) => {
    const fault = patternFault(pattern);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

const targetSchema = onlyFields({
  group: patternSchema.optional(),
  acquirer: patternSchema.optional(),
  instance: z
    .string({ error: ({ input }) => `${show(input)} is not a text` })
    .min(1, { error: 'is empty' })
    .max(LONGEST_INSTANCE, { error: `is longer than ${LONGEST_INSTANCE} characters` })
    .optional(),
  orAnother: switchSchema.default(false),
});

/** zod type of the option `to`: a pattern of the acquirer, or a {@link TaskTarget}. */
export const addressSchema = z.preprocess(
  (value) => (typeof value === 'string' ? { acquirer: value } : value),
  targetSchema.transform(({ group, acquirer, instance, orAnother }, context): TaskTarget => {
    if (group === undefined && acquirer === undefined && instance === undefined) {
      context.addIssue({ code: 'custom', message: 'is empty: give a pattern, or group, acquirer or instance' });
    }
    if (orAnother && instance === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['orAnother'],
        message: 'there is no "instance" that it could replace',
      });
    }
    // In this order: tasks of equal targets stand together.
    return {
      ...(group !== undefined && { group }),
      ...(acquirer !== undefined && { acquirer }),
      ...(instance !== undefined && { instance }),
      ...(orAnother && { orAnother }),
    };
  }),
);

/** Whether the node may run tasks that are addressed so. A pattern that can't be used matches no node. */
export function isTarget({ group, acquirer, instance }: TaskTarget, node: NodeIdentity): boolean {
  if (instance !== undefined && instance !== node.instance) return false;
  return isMatch(group, node.group) && isMatch(acquirer, node.acquirer);
}

/** The target in words, such as: acquirer "batch-.*" of group "eu". */
export function targetText({ orAnother, ...target }: TaskTarget): string {
  return `${processText(target)}${orAnother ? ', or another if it is gone' : ''}`;
}

function processText({ group, acquirer, instance }: TaskTarget): string {
  const nodes = acquirer === undefined ? 'all acquirers' : `acquirer ${show(acquirer)}`;
  const process = instance === undefined ? nodes : `instance ${show(instance)}`;
  const named = instance !== undefined && acquirer !== undefined ? `${process} of acquirer ${show(acquirer)}` : process;
  return group === undefined ? named : `${named} of group ${show(group)}`;
}

function isMatch(pattern: string | undefined, name: string): boolean {
  if (pattern === undefined) return true;
  const matches = compilePattern(pattern);
  return typeof matches !== 'string' && matches(name);
}
