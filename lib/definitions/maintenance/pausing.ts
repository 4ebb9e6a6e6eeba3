import { type SemaphoreRecord, pause, resume } from '../../decision/index.js';
import type { DefinitionWriter } from '../definition-writer.js';
import { isOurs, wasNeverPaused, whyLeft } from './window-rules.js';
import type { WindowEntry } from './windows-record.js';

interface Author {
  readonly by: string;
  readonly reason: string;
}

/** The entry after its pause; or the record of a semaphore that another change has paused or removed before. */
export type PauseOutcome = { readonly entry: WindowEntry } | { readonly other: SemaphoreRecord | undefined };

/** Pauses the semaphore of an entry. @param bulk id of the window */
export function pauseEntry(
  writer: DefinitionWriter,
  entry: WindowEntry,
  author: Author,
  bulk: string,
): Promise<PauseOutcome> {
  const [name, , id] = entry;
  const ours = ({ revision }: SemaphoreRecord) => ({ entry: [name, revision, id] as const });
  return writer.write<PauseOutcome>('pause', name, author, {
    rewriting: (record, ...rest) => record && pause(record, ...rest),
    done: ours,
    // An earlier call may have paused it and died before it knew.
    unchanged: (record) => (isOurs(entry, record) ? ours(record!) : { other: record }),
    marks: { id, bulk },
  });
}

/** The entry was resumed, was never paused, or was left alone for a reason. */
export type ResumeOutcome = 'resumed' | 'never-paused' | { readonly why: string };

/** Resumes the semaphore of an entry if the pause is still the last change. @param bulk id for the audit log */
export function resumeEntry(
  writer: DefinitionWriter,
  entry: WindowEntry,
  author: Author,
  bulk: string,
): Promise<ResumeOutcome> {
  const [name, , change] = entry;
  // The same in each try, so that a later call recognises the resume of one that was interrupted.
  const id = `${change}-end`;
  return writer.write<ResumeOutcome>('resume', name, author, {
    rewriting: (record, ...rest) => (record && isOurs(entry, record) ? resume(record, ...rest) : undefined),
    done: () => 'resumed',
    unchanged: (record) => {
      if (record?.change?.id === id) return 'resumed';
      return wasNeverPaused(entry, record) ? 'never-paused' : { why: whyLeft(record) };
    },
    marks: { id, bulk },
  });
}
