import { GatekeeperError, type SemaphoreRecord } from '../../decision/index.js';

/**
 * What somebody made of a semaphore, without its permits. No definition: it was removed, and stays so.
 */
export interface ArchivedDefinition extends Pick<SemaphoreRecord, 'revision' | 'definition' | 'change' | 'pause'> {
  /** Name of the semaphore. */
  readonly name: string;
}

/**
 * Where definitions outlive the cluster's memory. Several processes may share one: of each semaphore the higher revision
 * counts, and of equal ones the last that was saved. It is asked rarely, and nothing is decided by it while the store
 * has a record.
 */
export interface DefinitionArchive {
  /**
   * @throws CorruptArchiveError when something could not be read: that was put aside, and the next call gives the rest
   * @throws NewerArchiveError when a newer version of this package wrote it; it is left as it is
   * @throws whatever else keeps it from being read now
   */
  load(): Promise<ArchivedDefinition[]>;

  /**
   * Keeps these beside what is there. Told of all at every change and every sweep: does nothing where nothing is new.
   * A save that fails leaves what was there. Errors as of {@link load}, and:
   *
   * @throws RefusedDefinitionsError when some can't be kept as they are; the others are kept
   */
  save(definitions: readonly ArchivedDefinition[]): Promise<void>;

  /** Closes what it opened, and nothing else. Idempotent. */
  close(): Promise<void>;
}

/** The checked options of `fileArchive(...)` or `postgresArchive(...)`, and a way to open the archive. */
export interface Persistence {
  /** Names the kind of archive in messages: "file", "postgres". */
  readonly kind: string;
  /** Touches nothing yet. */
  open(): DefinitionArchive;
}

/** Archived definitions could not be read. They were put aside for somebody to look at, never overwritten. */
export class CorruptArchiveError extends GatekeeperError {
  readonly code = 'corrupt-archive';
}

/** A newer version of this package wrote the archive, which may mean things that this one doesn't know. */
export class NewerArchiveError extends GatekeeperError {
  readonly code = 'newer-archive';
}

/** Some definitions can't be kept because of what stands in them. All others are kept. */
export class RefusedDefinitionsError extends GatekeeperError {
  readonly code = 'refused-definitions';

  /** @param reasons for people: which, and why */
  constructor(
    /** Of the semaphores whose definitions are not archived. */
    readonly names: readonly string[],
    reasons: string,
  ) {
    const subject = names.length === 1 ? '1 definition is' : `${names.length} definitions are`;
    super(`${subject} not archived: ${reasons}. Edit what is refused; everything else is archived`);
  }
}

/** Whether `one` says more of a semaphore than `other`, as an archive has it. */
export function isFurther(one: ArchivedDefinition, other: ArchivedDefinition | undefined): boolean {
  if (!other || one.revision !== other.revision) return !other || one.revision > other.revision;
  return one.change?.id !== other.change?.id;
}
