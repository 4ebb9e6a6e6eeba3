import {
  type SemaphoreDefinition,
  type SemaphoreRecord,
  differingFields,
  intendedDefinition,
  listed,
  quoted,
  word,
} from '../../core/decision/index.js';
import { exactDuration } from '../../core/decision/texts/exact-duration.js';
import { MOST_ANNOUNCED } from '../../core/permits/declared/node-code.js';
import type { CodeVerdict } from './code-rule.js';

/** A stored definition that is not that of this node's code. */
export interface DifferingDefinition {
  /** The definition in this node's code. */
  readonly code: SemaphoreDefinition;
  /** The record, whose definition is another one, or was removed. */
  readonly record: SemaphoreRecord;
  readonly verdict: Exclude<CodeVerdict, 'same'>;
  /** The living nodes whose code is the reason of the verdict; empty for other reasons. */
  readonly nodes: readonly NamedNode[];
}

/** A node, for a sentence. */
interface NamedNode {
  readonly acquirer: string;
  readonly version?: string | undefined;
}

/** Maximum number of definitions whose fields are listed. With more, a log line has only the names. */
const MOST_TOLD = 20;
/** Number of definitions that are named. */
const MOST_NAMED = 1000;
/** Number of names in a command. */
const MOST_IN_COMMAND = 5;

/**
 * Says in a sentence which stored definitions differ from those in code, how, and why they count. Pure.
 *
 * @param differing at least one
 * @param node this node
 */
export function differencesSentence(differing: readonly DifferingDefinition[], node: NamedNode): string {
  const names = differing.map(({ code }) => code.name);
  const told = names.length > MOST_TOLD ? names.map(quoted) : differing.map(toldOf);
  const more = told.length - MOST_NAMED;
  const rest = more > 0 ? `; and ${more} more, which "gatekeeper status --overridden" lists` : '';
  const subject = one(names, '1 stored definition counts', `${names.length} stored definitions count`);
  return (
    `${subject}, not ${one(names, 'that', 'those')} in the code of this node, ${nodesText([node])}: ` +
    `${told.slice(0, MOST_NAMED).join('; ')}${rest}. To take over the code at once: gatekeeper reset ${resetOf(names)}`
  );
}

function resetOf(names: readonly string[]): string {
  return names.length > MOST_IN_COMMAND ? 'with these names, or a pattern' : names.map((name) => word(name)).join(' ');
}

function toldOf(differing: DifferingDefinition): string {
  const { code, record } = differing;
  const stored = intendedDefinition(record);
  const fields = stored ? differingFields(code, stored) : [];
  const values = fields.map((field) => `${field} ${shown(stored!, field)} (in the code ${shown(code, field)})`);
  const state = stored ? `has ${values.join(', ')}` : 'was removed, so nothing runs';
  return `${quoted(code.name)} ${state}: ${reasonOf(differing)}`;
}

function shown(definition: SemaphoreDefinition, field: keyof SemaphoreDefinition): string {
  if (field === 'duration') return quoted(exactDuration(definition.duration));
  const value = definition[field];
  return typeof value === 'number' ? String(value) : quoted(value);
}

/** Nodes by their acquirers, with their versions. */
export function nodesText(nodes: readonly NamedNode[]): string {
  const versions = [...new Set(nodes.flatMap(({ version }) => version ?? []))];
  const acquirers = listed(nodes.map(({ acquirer }) => acquirer));
  return versions.length > 0 ? `${acquirers} (version ${listed(versions, word)})` : acquirers;
}

const REASONS = {
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

function reasonOf({ record, verdict, nodes }: DifferingDefinition): string {
  switch (verdict) {
    case 'operator':
      return authorOf(record);
    case 'announced':
      return `the code of ${nodesText(nodes)} still has it, so it stays until no such node lives`;
    case 'later':
      return `the code of ${nodesText(nodes)} is taken over instead, because it started later`;
    default:
      return REASONS[verdict];
  }
}

/** A pause keeps the change before it out of the record, so it says nothing about the fields. */
function authorOf({ change, pause }: SemaphoreRecord): string {
  if (!change || pause || change.kind === 'resume') return 'an operator defined it';
  return `${change.kind} by ${quoted(change.by)}, ${new Date(change.at).toISOString()}`;
}
