import { z } from 'zod';

const whole = z.int();
const time = whole.meta({ description: 'ms since the epoch, cluster time' });

/** When a job runs by itself. */
const scheduleSchema = z.object({
  kind: z.enum(['cron', 'interval', 'timeout']),
  /** As written: "0 3 * * *"; ms for intervals and timeouts. */
  expression: z.string(),
  /** ms since the epoch, by the node's own clock, at which the scheduler next runs it. */
  next: whole.optional(),
  /** ms between the next run and the one after it. */
  interval: whole.optional(),
  /** The last times at which it was due before this was written, oldest first, as far as they are known. */
  recent: z.array(whole).optional(),
});

/** How a job ran last on the node that tells of it. */
const lastRunSchema = z.object({
  /** When it began. */
  at: time,
  /** ms */
  took: whole,
  outcome: z.enum(['ok', 'failed', 'lost']),
  message: z.string().optional(),
  token: whole.optional(),
  slot: whole.optional(),
});

export const jobInfoSchema = z.object({
  /** "JobsService.export" */
  job: z.string(),
  /** Absent where a function of the arguments names it. */
  semaphore: z.string().optional(),
  schedule: scheduleSchema.optional(),
  /** The journal of runs forgets a rare job's run when others run often. */
  lastRun: lastRunSchema.optional(),
});

export const nodeInfoSchema = z.object({
  group: z.string(),
  acquirer: z.string(),
  instance: z.string(),
  host: z.string(),
  pid: whole,
  version: z.string().optional(),
  startedAt: time,
  /** When this was written. */
  at: time,
  /** ms after which the next one is written. */
  heartbeat: whole,
  clock: z.object({
    /** ms by which the node's wall clock is behind cluster time. */
    offset: z.number().optional(),
    /** Why clocks can't be trusted there, while they can't. */
    suspect: z.string().optional(),
  }),
  jobs: z.array(jobInfoSchema),
});

const shardSchema = z.object({ v: z.literal(1), nodes: z.array(nodeInfoSchema) });

/** What a node tells the others of itself. */
export type NodeInfo = z.output<typeof nodeInfoSchema>;
/** A guarded method of a node, as the scheduler runs it. */
export type JobInfo = z.output<typeof jobInfoSchema>;
export type JobSchedule = z.output<typeof scheduleSchema>;

/** A text that can't be read holds no nodes: all of them write anew within a heartbeat. */
export function decodeCards(text: string | undefined): NodeInfo[] {
  if (text === undefined) return [];
  try {
    return shardSchema.parse(JSON.parse(text)).nodes;
  } catch {
    return [];
  }
}

export function encodeCards(nodes: readonly NodeInfo[]): string {
  return JSON.stringify({ v: 1, nodes });
}
