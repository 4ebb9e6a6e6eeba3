import { Option } from 'commander';
import { PRIORITIES, type Priority } from '../../tasks/index.js';
import type { BodyOf } from './operator.js';
import { readPattern, readSpan, wholeNumber } from '../options/option-readers.js';

type Submission = BodyOf<'submitTask'>;
type Uniqueness = NonNullable<Submission['unique']>;

/** Options of a submission on the command line, apart from its data. */
export interface SubmissionOptions {
  readonly total?: number;
  readonly priority?: Priority;
  /** ms */
  readonly delay?: number;
  readonly after?: readonly string[];
  readonly afterFailed?: 'cancel' | 'run';
  readonly uniqueKey?: string;
  readonly uniqueDuring?: Uniqueness['during'];
  readonly onConflict?: Uniqueness['onConflict'];
  readonly to?: string;
  readonly toGroup?: string;
  readonly toInstance?: string;
  readonly fairKey?: string;
}

const each = (id: string, before: readonly string[] = []) => [...before, id];

/** Makes new options for each command, because commander stores the values in them. */
export const submissionOptions = (): Option[] => [
  new Option('--total <n>', 'for submit: number of members of its group').argParser(wholeNumber(0)),
  new Option('--priority <priority>', 'for submit: which tasks usually run first').choices(PRIORITIES),
  new Option('--delay <duration>', 'for submit: how long it waits').argParser(readSpan),
  new Option('--after <id>', 'for submit: task or group that must end first; may be repeated').argParser(each),
  new Option('--after-failed <effect>', 'for submit: what happens if one of these fails').choices(['cancel', 'run']),
  new Option('--unique-key <key>', 'for submit: one task of this key; replaces the name'),
  new Option('--unique-during <time>', 'for submit: how long the key is taken').choices(['waiting', 'unfinished']),
  new Option('--on-conflict <effect>', 'for submit: what happens to a task of the same key').choices([
    'keep',
    'replace',
  ]),
  new Option('--to <pattern>', 'for submit: names of the nodes that may run it').argParser(readPattern),
  new Option('--to-group <pattern>', 'for submit: groups of the nodes that may run it').argParser(readPattern),
  new Option('--to-instance <instance>', 'for submit: instance of the process that may run it'),
  new Option('--fair-key <key>', 'for submit: tasks of different keys are taken in turn'),
];

/** The options as fields of a submission. Those that were not given are left out. */
export function submissionOf(options: SubmissionOptions): Omit<Submission, 'id' | 'data'> {
  const { total, priority, delay, after, afterFailed, fairKey } = options;
  const { uniqueKey: key, uniqueDuring: during, onConflict } = options;
  const { to: acquirer, toGroup: group, toInstance: instance } = options;
  const unique = given({ key, during, onConflict });
  const to = given({ group, acquirer, instance });
  return given({ total, priority, delay, after, afterFailed, unique, to, fairKey }) ?? {};
}

type Given<Fields> = { [Key in keyof Fields]?: NonNullable<Fields[Key]> };

/** The fields that have a value; undefined if none has. */
function given<Fields extends object>(fields: Fields): Given<Fields> | undefined {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? (Object.fromEntries(entries) as Given<Fields>) : undefined;
}
