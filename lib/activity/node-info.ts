import { z } from 'zod';
import type { Pieces } from '../async/slices.js';
import { faultsOf, show, storedCount, storedList, storedOffset, storedText, storedTime } from '../decision/index.js';

const time = storedTime.meta({ description: 'ms since the epoch, cluster time' });

/** When a job runs by itself. */
const scheduleSchema = z
  .object({
    kind: z.enum(['cron', 'interval', 'timeout']),
    /** As written: "0 3 * * *"; ms for intervals and timeouts. */
    expression: storedText,
    /** ms since the epoch, by the node's own clock, at which the scheduler next runs it. */
    next: storedTime.optional(),
    /** ms between the next run and the one after it. */
    interval: storedTime.optional(),
    /** The last times at which it was due before this was written, oldest first, as far as they are known. */
    recent: z.array(storedTime).optional(),
  })
  .meta({ id: 'JobSchedule' });

/** How a job ran last on the node that tells of it. */
const lastRunSchema = z
  .object({
    /** When it began. */
    at: time,
    /** ms */
    took: storedTime,
    outcome: z.enum(['ok', 'failed', 'lost']),
    message: storedText.optional(),
    token: storedCount.optional(),
    slot: storedCount.optional(),
  })
  .meta({ id: 'LastRun' });

export const jobInfoSchema = z.object({
  /** "JobsService.export" */
  job: storedText,
  /** Absent where a function of the arguments names it. */
  semaphore: storedText.optional(),
  schedule: scheduleSchema.optional(),
  /** The journal of runs forgets a rare job's run when others run often. */
  lastRun: lastRunSchema.optional(),
});

/** More than any application has methods. */
const MOST_JOBS = 1000;

export const nodeInfoSchema = z.object({
  group: storedText,
  acquirer: storedText,
  instance: storedText,
  host: storedText,
  pid: storedCount,
  version: storedText.optional(),
  startedAt: time,
  /** When this was written. */
  at: time,
  /** ms after which the next one is written. */
  heartbeat: storedTime,
  clock: z
    .object({
      /** ms by which the node's wall clock is behind cluster time. */
      offset: storedOffset.optional(),
      /** Why clocks can't be trusted there, while they can't. */
      suspect: storedText.optional(),
    })
    .meta({ id: 'NodeClock' }),
  jobs: z.array(jobInfoSchema).max(MOST_JOBS),
});

/** Characters: the cards of some hundreds of nodes. A longer text would block the event loop. */
const LONGEST_SHARD = 1024 * 1024;

/** Cards of one text that can't be read; what stands behind so many is left out unread, since each costs time. */
const MOST_FAULTY = 100;

/** More than any node tells. */
const MOST_RECENT = 10;

/** As above, but a list that is too long ends it before all of its values are looked at. */
const cardSchema = nodeInfoSchema.extend({
  jobs: storedList(
    jobInfoSchema.extend({
      schedule: scheduleSchema.extend({ recent: storedList(storedTime, MOST_RECENT).optional() }).optional(),
    }),
    MOST_JOBS,
  ),
});
const shardSchema = z.object({ v: z.literal(1), nodes: z.array(z.unknown()) });

/** A node's entry in the registry. */
export type NodeInfo = z.output<typeof nodeInfoSchema>;
/** A guarded method of a node, as the scheduler runs it. */
export type JobInfo = z.output<typeof jobInfoSchema>;
/** When @nestjs/schedule runs a job. */
export type JobSchedule = z.output<typeof scheduleSchema>;

/** The cards of one text, and what is wrong with those that can't be read, for people. */
export interface DecodedCards {
  readonly nodes: NodeInfo[];
  readonly faults: readonly string[];
}

/** In pieces of one card. A card that can't be read is left out; where the text can't be, all of its nodes write anew within a heartbeat. */
export function* decodeCards(text: string | undefined): Pieces<DecodedCards> {
  if (text === undefined) return { nodes: [], faults: [] };
  const shard = decodeShard(text);
  if (typeof shard === 'string') return { nodes: [], faults: [`${show(text)}: ${shard}`] };
  const nodes: NodeInfo[] = [];
  const faults: string[] = [];
  for (const [index, card] of shard.entries()) {
    if (faults.length >= MOST_FAULTY) return { nodes, faults: [...faults, NOT_LOOKED_AT(shard.length - index)] };
    const { data, error } = cardSchema.safeParse(card);
    if (data) nodes.push(data);
    else faults.push(`a card: ${faultsOf(error).join('; ')}`);
    yield 1;
  }
  return { nodes, faults };
}

const NOT_LOOKED_AT = (count: number) => `${count} more cards, which are not looked at`;

/** @returns the cards, or what is wrong with all of the text */
function decodeShard(text: string): unknown[] | string {
  if (text.length > LONGEST_SHARD) return `it is longer than ${LONGEST_SHARD} characters`;
  try {
    const parsed = shardSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.nodes : faultsOf(parsed.error).join('; ');
  } catch (error) {
    return `it is not JSON (${(error as Error).message})`;
  }
}

export function encodeCards(nodes: readonly NodeInfo[]): string {
  return JSON.stringify({ v: 1, nodes });
}
