import { GatekeeperError, type SemaphoreRecord } from '../../decision/index.js';

/** A semaphore as people last changed it, without its permits. No definition: it was removed, and stays so. */
export interface ArchivedDefinition extends Pick<SemaphoreRecord, 'revision' | 'definition' | 'change' | 'pause'> {
  /** Name of the semaphore. */
  readonly name: string;
}

/**
 * A place where definitions outlive the cluster's memory. Several processes may share one: of each semaphore the higher revision
 * counts, and of equal ones the last that was saved. It is asked rarely, and never while the
 * store has a record.
 */
export interface DefinitionArchive {
  /**
   * @throws CorruptArchiveError when something could not be read: that was put aside, and the next call gives the rest
   * @throws NewerArchiveError when a newer version of this package wrote it; it is left as it is
   * @throws any other error that keeps it from being read now
   */
  load(): Promise<ArchivedDefinition[]>;

  /**
   * Adds definitions. Called with all of them at every change and every sweep, so it does nothing if nothing is new. A failed
   * save leaves the old state. Errors as of {@link load}, and:
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
  /** Opens the archive without any access to it yet. */
  open(): DefinitionArchive;
}

/** Archived definitions could not be read. They were put aside for a person to look at, never overwritten. */
export class CorruptArchiveError extends GatekeeperError {
  readonly code = 'corrupt-archive';
}

/** A newer version of this package wrote the archive, which may mean things that this one doesn't know. */
export class NewerArchiveError extends GatekeeperError {
  readonly code = 'newer-archive';
}

/** The archive refused some definitions because of their values. All others are saved. */
export class RefusedDefinitionsError extends GatekeeperError {
  readonly code = 'refused-definitions';

  /** @param reasons for people: which, and why */
  constructor(
    /** Names of the semaphores whose definitions are not archived. */
    readonly names: readonly string[],
    reasons: string,
  ) {
    const subject = names.length === 1 ? '1 definition is' : `${names.length} definitions are`;
    super(`${subject} not archived: ${reasons}. Edit what is refused; everything else is archived`);
  }
}

/** Whether `one` is newer than `other`. */
export function isFurther(one: ArchivedDefinition, other: ArchivedDefinition | undefined): boolean {
  if (!other || one.revision !== other.revision) return !other || one.revision > other.revision;
  return one.change?.id !== other.change?.id;
}

/** Adds `definitions` to those that are there: of each semaphore the further one is kept. `changes` are those that were added. */
export function merge(
  there: ReadonlyMap<string, ArchivedDefinition>,
  definitions: readonly ArchivedDefinition[],
): { readonly merged: ReadonlyMap<string, ArchivedDefinition>; readonly changes: readonly ArchivedDefinition[] } {
  const changes = definitions.filter((each) => isFurther(each, there.get(each.name)));
  return { merged: new Map([...there, ...changes.map((each) => [each.name, each] as const)]), changes };
}

export function byName(definitions: readonly ArchivedDefinition[]): ReadonlyMap<string, ArchivedDefinition> {
  return new Map(definitions.map((each) => [each.name, each]));
}
