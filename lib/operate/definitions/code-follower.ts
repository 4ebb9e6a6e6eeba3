import {
  type CodeDefinition,
  type SemaphoreRecord,
  intendedDefinition,
  messageOf,
  sameDefinition,
  adoptCode,
} from '../../core/decision/index.js';
import { type LivingNodes, type NodeCode, type NodeInfo } from '../activity/index.js';
import { MOST_ANNOUNCED } from '../../core/permits/declared/node-code.js';
import { forEachLimit } from '../../core/async/for-each-limit.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import { isStoreError } from '../../core/store/index.js';
import type { Archived, DeclaredDefinitions } from '../../core/permits/declared/declared-definitions.js';
import {
  type DifferingDefinition,
  differencesSentence,
  removedSentence,
  stuckSentence,
  tooManySentence,
} from './code-difference.js';
import { type Announcement, type CodeVerdict, codeVerdict, isStillDue, reasonsOf } from './code-rule.js';
import type { DefinitionWriter } from './definition-writer.js';

/** Values of the option `codeChanges`. */
export const CODE_CHANGES = ['follow', 'keep'] as const;

/** Looks after which the differences are reported although the registry does not have this node yet. */
const MOST_UNSURE_LOOKS = 3;

/**
 * ms for which definitions of code may differ before a standing warning says so: longer than a rolling deploy. Kubernetes
 * counts one as failed that makes no progress for ten minutes.
 */
export const LONGEST_DEPLOY = 15 * 60_000;

/** A name that this node's code defines, with its record. */
interface Defined extends CodeDefinition {
  readonly record: SemaphoreRecord;
}

interface FollowerOptions {
  readonly codeChanges: (typeof CODE_CHANGES)[number];
  /** Whether this node has an entry in the registry. */
  readonly isAnnounced: boolean;
  /** Whether only this process writes to the store. Then no other node has other code. */
  readonly isAlone: boolean;
  /** Version of the application, for the audit log. */
  readonly version?: string | undefined;
  readonly living: Pick<LivingNodes, 'codes'>;
  /** Archived definitions; undefined while the archive can't be read. */
  readonly archived?: (() => Promise<Archived | undefined>) | undefined;
}

/**
 * Lets stored definitions that no operator has changed follow this node's code, by the rule of `code-rule.ts`. Reads the
 * record first, then the registry, and then writes only if the record still has the revision that it read: whatever came
 * in between is decided anew at the next look. Definition and permits are one record, so the write is an ordinary edit.
 */
export class CodeFollower {
  #isReported = false;
  #unsureLooks = 0;
  /** Names that were found removed, with the monotonic ms at which that was first seen. */
  #removed: ReadonlyMap<string, number> = new Map();
  /** Names whose definition should follow and can't, by verdict, with the monotonic ms at which that was first seen. */
  #stuck: ReadonlyMap<string, { readonly verdict: StuckVerdict; readonly since: number }> = new Map();
  readonly #startedAt: number;

  constructor(
    private readonly declared: DeclaredDefinitions,
    private readonly writer: Pick<DefinitionWriter, 'write'>,
    private readonly context: Context,
    private readonly options: FollowerOptions,
  ) {
    this.#startedAt = context.nodeClock.monotonic();
  }

  /** Names that this node's code defines and that were removed, so that no node gets a permit. As last seen. */
  get removed(): readonly StandingFault[] {
    const names = [...this.#removed].filter(([name]) => isRemoved(this.declared.recordOf(name)));
    return standing(names, removedSentence);
  }

  /** Names that should follow this node's code and have not for longer than a deploy. The code of other nodes is not the reason. */
  get stuck(): readonly StandingFault[] {
    const latest = this.context.nodeClock.monotonic() - LONGEST_DEPLOY;
    const all = [...this.#stuck].filter(([, { since }]) => since <= latest);
    const faults = STUCK.flatMap((verdict) => {
      const names = all.filter(([, each]) => each.verdict === verdict);
      return standing(
        names.map(([name, { since }]) => [name, since]),
        (each) => stuckSentence(each, verdict),
      );
    });
    const { count } = this.declared;
    if (count <= MOST_ANNOUNCED || this.options.isAlone) return faults;
    return [...faults, { since: this.#startedAt, sentence: tooManySentence(count) }];
  }

  /** The part of {@link stuck} that is about one name, as a sentence. */
  stuckSentenceOf(name: string): string | undefined {
    const stuck = this.#stuck.get(name);
    if (!stuck || stuck.since > this.context.nodeClock.monotonic() - LONGEST_DEPLOY) return undefined;
    return stuckSentence([name], stuck.verdict);
  }

  /**
   * Looks at all definitions of this node's code once. At the first look, reports those that differ.
   *
   * @throws if the store can't be asked
   */
  async follow(): Promise<void> {
    if (!this.declared.isLoaded) return;
    const found = await inSlices(this.#differing(), this.context.nodeClock);
    const differing = found.length > 0 ? await this.#judged(found) : [];
    const due = differing.filter(({ verdict }) => verdict === 'take');
    const taken = due.length > 0 ? await this.#takeAll(due) : new Set();
    const rest = differing.filter((each) => !taken.has(each));
    this.#noteStuck(rest);
    this.#report(rest);
  }

  #noteStuck(rest: readonly Judged[]): void {
    const now = this.context.nodeClock.monotonic();
    const stuck = rest.flatMap(({ code: { name }, verdict }) =>
      isStuck(verdict) ? [[name, { verdict, since: this.#stuck.get(name)?.since ?? now }] as const] : [],
    );
    this.#stuck = new Map(stuck);
  }

  /** After the report, an operator's definition needs no further look. */
  *#differing(): Pieces<Defined[]> {
    const found: Defined[] = [];
    const removed = new Map<string, number>();
    for (const code of this.declared.code) {
      yield 1;
      const { name } = code.definition;
      const record = this.declared.recordOf(name);
      if (!record) continue;
      if (isRemoved(record)) removed.set(name, this.#removed.get(name) ?? this.context.nodeClock.monotonic());
      const isWanted = record.source === 'code' || !this.#isReported;
      if (isWanted && isOther(record, code)) found.push({ ...code, record });
    }
    this.#removed = removed;
    return found;
  }

  async #judged(found: readonly Defined[]): Promise<Judged[]> {
    const follows = this.options.codeChanges === 'follow';
    const isOpen = follows && found.some(({ record }) => record.source === 'code');
    const codes = isOpen && !this.options.isAlone ? await this.#codes() : undefined;
    return inSlices(this.#judge(found, codes, follows), this.context.nodeClock);
  }

  /** Without the registry nothing is decided. The next look reads it again. */
  async #codes(): Promise<readonly NodeCode[] | undefined> {
    try {
      const { codes, isWhole } = await this.options.living.codes();
      return isWhole ? codes : undefined;
    } catch (error) {
      if (!isStoreError(error)) throw error;
      this.context.events.next({ type: 'problem', action: 'read the code of the nodes', error });
      return undefined;
    }
  }

  *#judge(found: readonly Defined[], codes: readonly NodeCode[] | undefined, follows: boolean): Pieces<Judged[]> {
    const judged: Judged[] = [];
    for (const { definition, fingerprint: own, record } of found) {
      const announced: AnnouncedBy[] | undefined = this.options.isAlone
        ? [{ startedAt: 0, fingerprint: own }]
        : announcedIn(codes, definition.name);
      const verdict = codeVerdict(record, { own, announced, follows });
      if (verdict !== 'same') {
        const nodes = reasonsOf(verdict, record, announced).flatMap(({ node }) => node ?? []);
        judged.push({ code: definition, record, verdict, fingerprint: own, nodes });
      }
      yield 1 + (codes?.length ?? 0);
    }
    return judged;
  }

  /** @returns those that the store has now */
  async #takeAll(due: readonly Judged[]): Promise<ReadonlySet<Judged>> {
    const taken = new Set<Judged>();
    const archived = this.options.archived ? await this.options.archived() : new Map();
    // An operator's edit that only the archive has would be overwritten.
    if (!archived) return taken;
    await forEachLimit(due, async (each) => {
      try {
        if (await this.#take(each, archived.get(each.code.name)?.revision ?? 0)) taken.add(each);
      } catch (error) {
        if (isStoreError(error)) throw error;
        const action = 'follow the code';
        this.context.events.next({
          type: 'problem',
          semaphore: each.code.name,
          action,
          error: new Error(messageOf(error), { cause: error }),
        });
      }
    });
    return taken;
  }

  #take({ code, fingerprint, record: seen }: Judged, archivedRevision: number): Promise<boolean> {
    const { version } = this.options;
    const reason = version === undefined ? "the application's code" : `the application's code, version ${version}`;
    return this.writer.write<boolean>(
      'follow',
      code.name,
      { reason },
      {
        rewriting: (record, change, view, nonce) =>
          record && isStillDue(record, seen, archivedRevision, view)
            ? adoptCode(record, { definition: code, fingerprint }, change, view, nonce)
            : undefined,
        done: () => true,
        unchanged: () => false,
      },
    );
  }

  /** Reports once per start, as soon as this node's entry is in the registry: most differences end with the first look. */
  #report(differing: readonly Judged[]): void {
    if (this.#isReported) return;
    const isUnsure = differing.some(({ verdict }) => verdict === 'unsure');
    if (isUnsure && this.options.isAnnounced && ++this.#unsureLooks < MOST_UNSURE_LOOKS) return;
    this.#isReported = true;
    if (differing.length === 0) return;
    const definitions = differing.map(({ code: { name }, record: { revision, change } }) => ({
      semaphore: name,
      revision,
      ...(change && { change }),
    }));
    const node = { acquirer: this.context.node.acquirer, version: this.options.version };
    const sentence = differencesSentence(differing, node);
    this.context.events.next({ type: 'definitions-differ', definitions, sentence });
  }
}

/** A fault that stands until someone acts. */
interface StandingFault {
  /** Monotonic ms. */
  readonly since: number;
  readonly sentence: string;
}

/** @param names with the monotonic ms since when @returns one fault about all of them, if there are any */
function standing(
  names: readonly (readonly [name: string, since: number])[],
  sentence: (names: readonly string[]) => string,
): StandingFault[] {
  if (names.length === 0) return [];
  return [{ since: Math.min(...names.map(([, since]) => since)), sentence: sentence(names.map(([name]) => name)) }];
}

/** Verdicts that end by themselves in a deploy, unless something is in the way that no other node's code explains. */
const STUCK = ['unsure', 'take'] as const;
type StuckVerdict = (typeof STUCK)[number];

function isStuck(verdict: CodeVerdict): verdict is StuckVerdict {
  return (STUCK as readonly CodeVerdict[]).includes(verdict);
}

interface Judged extends DifferingDefinition {
  /** Of the definition in this node's code. */
  readonly fingerprint: string;
}

function isRemoved(record: SemaphoreRecord | undefined): boolean {
  return record !== undefined && !record.definition;
}

function isOther(record: SemaphoreRecord, { definition, fingerprint }: CodeDefinition): boolean {
  if (record.source === 'code') return record.fingerprint !== fingerprint;
  const stored = intendedDefinition(record);
  return !stored || !sameDefinition(stored, definition);
}

interface AnnouncedBy extends Announcement {
  /** Absent for this node alone on its store. */
  readonly node?: NodeInfo;
}

function announcedIn(codes: readonly NodeCode[] | undefined, name: string): AnnouncedBy[] | undefined {
  return codes?.flatMap(({ node, fingerprintOf }) => {
    const fingerprint = fingerprintOf(name);
    return fingerprint === undefined ? [] : [{ startedAt: node.startedAt, fingerprint, node }];
  });
}
