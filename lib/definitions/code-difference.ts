import {
  type SemaphoreDefinition,
  type SemaphoreRecord,
  differingFields,
  intendedDefinition,
  listed,
  quoted,
} from '../decision/index.js';
import { MOST_ANNOUNCED } from '../activity/index.js';
import type { CodeVerdict } from './code-rule.js';

/** A stored definition that is not that of this node's code. */
export interface DifferingDefinition {
  /** The definition in this node's code. */
  readonly code: SemaphoreDefinition;
  /** The record, whose definition is another one, or was removed. */
  readonly record: SemaphoreRecord;
  readonly verdict: Exclude<CodeVerdict, 'same'>;
}

/** Maximum number of definitions whose fields are listed. With more, a log line has only the names. */
const MOST_TOLD = 20;
/** Number of definitions that are named. */
const MOST_NAMED = 1000;

/**
 * Says in a sentence which stored definitions differ from those in code, how, and why they count. Pure.
 *
 * @param differing at least one
 */
export function differencesSentence(differing: readonly DifferingDefinition[]): string {
  const told = differing.length > MOST_TOLD ? differing.map(({ code }) => quoted(code.name)) : differing.map(toldOf);
  const more = told.length - MOST_NAMED;
  const rest = more > 0 ? `; and ${more} more, which "gatekeeper status --overridden" lists` : '';
  const subject = told.length === 1 ? '1 stored definition counts' : `${told.length} stored definitions count`;
  return (
    `${subject}, and not what this node's code says: ${told.slice(0, MOST_NAMED).join('; ')}${rest}. ` +
    'The command "reset" takes over the definitions of the code'
  );
}

function toldOf({ code, record, verdict }: DifferingDefinition): string {
  const stored = intendedDefinition(record);
  const fields = stored ? differingFields(code, stored) : [];
  const values = fields.map((field) => `${field} ${shown(stored![field])} (code: ${shown(code[field])})`);
  return `${quoted(code.name)}: ${[...(stored ? values : ['removed, so nothing runs']), reasonOf(record, verdict)].join(', ')}`;
}

function shown(value: string | number): string {
  return typeof value === 'number' ? String(value) : quoted(value);
}

const REASONS = {
  announced: 'a living node has it in its code, and it stays until all such nodes have ended',
  later: 'the code of a node that started later is to be taken over',
  kept: "codeChanges is 'keep'",
  unsure: 'it stays until the registry of the nodes can be read and has this node: heartbeat must not be 0',
  take: 'it could not be changed yet, because of a grace, the archive or the store',
};

/** @param names at least one */
export function removedSentence(names: readonly string[]): string {
  const [verb, object] = [one(names, 'was', 'were'), one(names, 'it', 'them')];
  return `${listed(names, quoted)} ${verb} removed, although the code defines ${object}: nothing runs until "reset"`;
}

/** @param names at least one */
export function stuckSentence(names: readonly string[], verdict: 'unsure' | 'take'): string {
  return (
    `the stored ${one(names, 'definition', 'definitions')} of ${listed(names, quoted)} ${one(names, 'is', 'are')} not what this ` +
    `node's code says, and ${one(names, 'does', 'do')} not follow it: ${REASONS[verdict]}. "reset" takes over the code`
  );
}

/** @param count of the definitions in this node's code */
export function tooManySentence(count: number): string {
  return (
    `this node's code has ${count} definitions, of which the registry has room for ${MOST_ANNOUNCED}: the others don't follow ` +
    'the code of a new version, and other nodes let them be removed. Use names without a definition for names like one per order'
  );
}

function one(names: readonly string[], singular: string, plural: string): string {
  return names.length === 1 ? singular : plural;
}

function reasonOf(record: SemaphoreRecord, verdict: DifferingDefinition['verdict']): string {
  return verdict === 'operator' ? authorOf(record) : REASONS[verdict];
}

/** A pause keeps the change before it out of the record, so it says nothing about the fields. */
function authorOf({ change, pause }: SemaphoreRecord): string {
  if (!change || pause || change.kind === 'resume') return 'an operator defined it';
  return `${change.kind} by ${quoted(change.by)}, ${new Date(change.at).toISOString()}`;
}
