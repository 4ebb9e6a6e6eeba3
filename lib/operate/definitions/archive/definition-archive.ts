import { type ArchivedDefinition, GatekeeperError } from '../../../core/decision/index.js';

/**
 * A place where definitions outlive the cluster's memory. Several processes may share one archive. For each semaphore
 * the higher revision counts; if revisions are equal, the last saved one. The archive is read rarely.
 */
export interface DefinitionArchive {
  /**
   * Reads all definitions.
   *
   * @throws CorruptArchiveError if a part was unreadable; it was put aside, and the next call returns the rest
   * @throws NewerArchiveError if a newer version of this package wrote the archive; it stays unchanged
   * @throws any other error if the archive can't be read now
   */
  load(): Promise<ArchivedDefinition[]>;

  /**
   * Adds definitions. It is called with all of them at every change and every sweep, so it must do nothing if nothing
   * is new. A failed save leaves the old state. Same errors as {@link load}, and:
   *
   * @throws RefusedDefinitionsError if the archive refuses some definitions; all others are saved
   */
  save(definitions: readonly ArchivedDefinition[]): Promise<void>;

  /** Closes only resources that the archive opened itself. Idempotent. */
  close(): Promise<void>;
}

/** The checked options of `fileArchive(...)` or `postgresArchive(...)`, and a way to open the archive. */
export interface Persistence {
  /** The kind of archive, for messages: "file", "postgres". */
  readonly kind: string;
  /** Creates the archive's object. Does not read or connect yet. */
  open(): DefinitionArchive;
}

/** Archived definitions could not be read. They were put aside so that a person can look at them, never overwritten. */
export class CorruptArchiveError extends GatekeeperError {
  static override readonly className = 'CorruptArchiveError';
  readonly code = 'corrupt-archive';
}

/** A newer version of this package wrote the archive. It may contain data that this version doesn't know. */
export class NewerArchiveError extends GatekeeperError {
  static override readonly className = 'NewerArchiveError';
  readonly code = 'newer-archive';
}

/** The archive refused some definitions because of their values. All others are saved. */
export class RefusedDefinitionsError extends GatekeeperError {
  static override readonly className = 'RefusedDefinitionsError';
  readonly code = 'refused-definitions';

  /** @param reasons names of the definitions, each with the reason, for people */
  constructor(
    /** Names of the semaphores whose definitions are not archived. */
    readonly names: readonly string[],
    reasons: string,
  ) {
    const subject = names.length === 1 ? '1 definition is' : `${names.length} definitions are`;
    super(`${subject} not archived: ${reasons}. Edit the refused definitions; all others are archived`);
  }
}

/** Whether `one` replaces `other`: it has a higher revision, or another change with the same revision. */
export function isFurther(one: ArchivedDefinition, other: ArchivedDefinition | undefined): boolean {
  if (!other || one.revision !== other.revision) return !other || one.revision > other.revision;
  return one.change?.id !== other.change?.id;
}

/**
 * Adds `definitions` to `there`, unless `there` has them or newer ones. `changes` are the definitions that were added.
 */
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
