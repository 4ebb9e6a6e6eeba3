import { z } from 'zod';
import type { Pieces } from '../../core/async/slices.js';
import {
  faultsOf,
  show,
  storedCount,
  storedList,
  storedOffset,
  storedText,
  storedTime,
  withoutDoubt,
} from '../../core/decision/index.js';
import { nodeTasksSchema } from '../../tasks/overview/node-tasks.js';
import { CODE_TEXT, USED_TEXT } from '../../core/permits/declared/node-code.js';

const time = storedTime.meta({ description: 'ms since the epoch, cluster time' });

/** Times at which @nestjs/schedule runs a job. */
const scheduleSchema = z
  .object({
    /** Its decorator: `@Cron`, `@Interval` or `@Timeout`. */
    kind: z.enum(['cron', 'interval', 'timeout']),
    /** As written in the decorator: "0 3 * * *"; for intervals and timeouts the ms as text. */
    expression: storedText,
    /** IANA name of the zone of a cron expression; absent if it has an offset instead. */
    timeZone: storedText.optional(),
    /** The next time at which the scheduler runs it: ms since the epoch by the node's own clock. */
    next: storedTime.optional(),
    /** ms between the next run and the run after it. */
    interval: storedTime.optional(),
    /**
     * The last known times at which it was due, at most 3, oldest first: ms since the epoch by the node's own clock.
     */
    recent: z.array(storedTime).optional(),
  })
  .meta({ id: 'JobSchedule' });

/** See {@link JobInfo}. */
const RUN_NOW = ['yes', 'arguments', 'not-static'] as const;

export const jobInfoSchema = z.object({
  /** Name of the job: "JobsService.export". */
  job: storedText,
  /** Name of its semaphore. Absent if a function of the method's arguments gives the name. */
  semaphore: storedText.optional(),
  /** Absent if @nestjs/schedule does not run it. */
  schedule: scheduleSchema.optional(),
  /**
   * Whether a person may run it now: `yes`; `arguments`: the application calls it with arguments; `not-static`: its
   * provider is made per request or per use. Absent for a job of `@LeaderOnly`.
   */
  runNow: z.enum(RUN_NOW).optional(),
  /** Name that the acquirer pattern must match, if it is not the node's own name. */
  acquirer: storedText.optional(),
});

/** Maximum number of types of tasks in the entry of a node. */
export const MOST_TASK_TYPES = 200;

/** Maximum number of jobs of a node: more than any application has guarded methods. */
const MOST_JOBS = 1000;

export const nodeInfoSchema = z.object({
  /** The node's zone or environment. */
  group: storedText,
  /** The node's name. */
  acquirer: storedText,
  /** Random id of the process. */
  instance: storedText,
  /** Name of the host. */
  host: storedText,
  /** Process id on that host. */
  pid: storedCount,
  /** Version of the application, from its options. */
  version: storedText.optional(),
  /** Name of the application: its option `application`. Absent if it is unknown. */
  application: storedText.optional(),
  /** When the node began to publish itself. */
  startedAt: time,
  /** When the node wrote this entry. */
  at: time,
  /** The longest time in ms between two writes of the entry. */
  heartbeat: storedTime,
  /** Duration of the node's membership lease in ms. Absent if it is no participant. */
  lease: storedTime.optional(),
  /** The node's clocks, as it sees them. */
  clock: z
    .object({
      /** ms by which the node's wall clock is behind cluster time. */
      offset: storedOffset.optional(),
      /** Why this node does not trust the clocks now; absent if it does. */
      suspect: storedText.optional(),
    })
    .meta({ id: 'NodeClock' }),
  /** False if the node writes no runs (`history: false`). Then only its permits show that a job ran. */
  history: z.literal(false).optional(),
  /** All guarded methods of the node. */
  jobs: z.array(jobInfoSchema).max(MOST_JOBS),
  /** The types of tasks that the node handles, at most 200. Absent if there are none. */
  tasks: z.array(nodeTasksSchema).max(MOST_TASK_TYPES).optional(),
});

/** Characters: enough for the entries of some hundreds of nodes. A longer text would block the event loop. */
const LONGEST_SHARD = 1024 * 1024;

/**
 * After this many invalid entries in one text, the rest of the text is left out, because each invalid entry costs time.
 */
const MOST_FAULTY = 100;

/** Maximum number of recent times of a job: more than any node writes. */
const MOST_RECENT = 10;

/**
 * As stored: a list that is too long is refused before its items are checked. `code` is the place of the node's code among
 * the codes of the text: all nodes of a version have the same one. `used` is of no use to people.
 */
const cardSchema = nodeInfoSchema.extend({
  jobs: storedList(
    jobInfoSchema.extend({
      schedule: scheduleSchema.extend({ recent: storedList(storedTime, MOST_RECENT).optional() }).optional(),
    }),
    MOST_JOBS,
  ),
  tasks: storedList(nodeTasksSchema, MOST_TASK_TYPES).optional(),
  code: storedCount.optional(),
  used: z.string().regex(USED_TEXT).optional(),
});
const shardSchema = z.object({
  v: z.literal(1),
  nodes: z.array(z.unknown()),
  codes: z.array(z.unknown()).optional(),
});
const codeSchema = z.string().regex(CODE_TEXT);

/**
 * The entry of a node in the registry: its identity, process, clock and jobs.
 *
 * @interface
 */
export type NodeInfo = z.output<typeof nodeInfoSchema>;
/**
 * A guarded method of a node, with its schedule, if it has one.
 *
 * @interface
 */
export type JobInfo = z.output<typeof jobInfoSchema>;
/**
 * Times at which @nestjs/schedule runs a job.
 *
 * @interface
 */
export type JobSchedule = z.output<typeof scheduleSchema>;

/** A node's entry, with the definitions in its code, and the names that it has used without one (`node-code.ts`). */
export interface NodeCard extends NodeInfo {
  readonly code?: string | undefined;
  readonly used?: string | undefined;
}

/** A living node, the definitions in its code, and the names that it has used without one. */
export interface NodeCode {
  readonly node: NodeInfo;
  /** Its announcement (`node-code.ts`); equal for nodes with the same definitions, empty without any. */
  readonly code: string;
  /** The fingerprint of a definition in its code; undefined if its code does not define that name. */
  readonly fingerprintOf: (name: string) => string | undefined;
  /** Whether it has used a name without a definition: a semaphore on demand, or "task:" and a type that it submits. */
  readonly hasUsed: (name: string) => boolean;
}

/** The valid entries of one text, and the faults of the invalid ones, for people. */
export interface DecodedCards {
  readonly nodes: NodeCard[];
  readonly faults: readonly string[];
}

/**
 * Decodes the entries of one text, and yields after each entry. Leaves out invalid entries. If the whole text is
 * invalid, all nodes in it write their entries again within a heartbeat.
 */
export function* decodeCards(text: string | undefined): Pieces<DecodedCards> {
  if (text === undefined) return { nodes: [], faults: [] };
  const shard = decodeShard(text);
  if (typeof shard === 'string') return { nodes: [], faults: [`${show(text)}: ${shard}`] };
  const { nodes: cards } = shard;
  const codeAt = codesOf(shard.codes);
  const nodes: NodeCard[] = [];
  const faults: string[] = [];
  for (const [index, card] of cards.entries()) {
    if (faults.length >= MOST_FAULTY) return { nodes, faults: [...faults, NOT_LOOKED_AT(cards.length - index)] };
    const { data, error } = cardSchema.safeParse(card);
    const code = data?.code === undefined ? undefined : codeAt(data.code);
    if (!data) faults.push(`an entry: ${faultsOf(error).join('; ')}`);
    else if (data.code !== undefined && code === undefined)
      faults.push(`an entry: code: no definitions at ${data.code}`);
    else nodes.push({ ...data, code });
    yield 1;
  }
  return { nodes, faults };
}

/** Checks each of the codes only once: it may be long, and all nodes of a text may have it. */
function codesOf(codes: readonly unknown[] = []): (place: number) => string | undefined {
  const checked = new Map<number, string | undefined>();
  return (place) => {
    if (!checked.has(place)) checked.set(place, codeSchema.safeParse(codes[place]).data);
    return checked.get(place);
  };
}

const NOT_LOOKED_AT = (count: number) => `${count} more entries, which were not checked`;

/** @returns the entries before their check, or the fault of the whole text */
function decodeShard(text: string): z.output<typeof shardSchema> | string {
  if (text.length > LONGEST_SHARD) return `it is longer than ${LONGEST_SHARD} characters`;
  try {
    const parsed = shardSchema.safeParse(JSON.parse(withoutDoubt(text)));
    return parsed.success ? parsed.data : faultsOf(parsed.error).join('; ');
  } catch (error) {
    return `it is not JSON (${(error as Error).message})`;
  }
}

export function encodeCards(cards: readonly NodeCard[]): string {
  const places = new Map<string, number>();
  const nodes = cards.map(({ code, ...card }) => {
    if (code === undefined) return card;
    const place = places.get(code) ?? places.size;
    places.set(code, place);
    return { ...card, code: place };
  });
  return JSON.stringify({ v: 1, nodes, ...(places.size > 0 && { codes: [...places.keys()] }) });
}
