import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { HistoryEntry } from './history.js';

const source = { at: z.number(), process: z.string().min(1) };
const call = { ...source, call: z.string().min(1), semaphore: z.string().min(1) };
const permit = { ...source, semaphore: z.string().min(1), permit: z.string().min(1) };
const place = { slot: z.int().min(0), token: z.int().min(0) };

const schema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('invoked'),
    ...call,
    verb: z.enum(['acquire', 'refresh', 'release']),
    permit: z.string().min(1).optional(),
  }),
  z.object({ event: z.literal('granted'), ...call, ...permit, ...place, remaining: z.number() }),
  z.object({ event: z.literal('refreshed'), ...permit, call: z.string().min(1).optional(), remaining: z.number() }),
  z.object({ event: z.literal('released'), ...call, ...permit }),
  z.object({ event: z.literal('denied'), ...call, reason: z.string() }),
  z.object({ event: z.literal('failed'), ...call, error: z.string() }),
  z.object({ event: z.literal('ended'), ...permit, reason: z.string() }),
  z.object({
    event: z.literal('woken'),
    ...permit,
    callback: z.enum(['io', 'timer', 'after-timers']),
    threw: z.boolean().optional(),
    aborted: z.boolean().optional(),
    since: z.number().optional(),
  }),
  z.object({ event: z.literal('counted'), ...source, incarnation: z.string().min(1) }),
  z.object({ event: z.literal('judged'), ...source, incarnation: z.string().min(1) }),
  z.object({ event: z.literal('stalled'), ...source, since: z.number() }),
  z.object({ event: z.literal('suspected'), ...source, reason: z.string() }),
  z.object({ event: z.enum(['killed', 'frozen', 'thawed']), ...source }),
  z.object({ event: z.literal('cut'), ...source }),
  z.object({ event: z.literal('handing-over'), ...source, how: z.enum(['resignation', 'transfer', 'shutdown']) }),
  z.object({ event: z.literal('limited'), ...source, semaphore: z.string().min(1), permits: z.int().min(0) }),
  z.object({ event: z.enum(['fault-begun', 'fault-over']), ...source, fault: z.string() }),
  z.object({ event: z.literal('all-well'), ...source, processes: z.array(z.string()).readonly() }),
  z.object({ event: z.literal('written'), ...source, ...place, semaphore: z.string().min(1), isApplied: z.boolean() }),
]);

/**
 * Reads histories: one entry as JSON a line, the files of several processes in any order.
 *
 * @throws Error naming the file and the line of what is no entry; only the last line of a file may be cut off, as a
 *   process that was killed leaves it
 */
export async function readHistory(...files: string[]): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for (const file of files) await readInto(entries, file);
  return entries;
}

async function readInto(entries: HistoryEntry[], file: string): Promise<void> {
  let number = 0;
  /** Only another line proves that this one was written to its end. */
  let cutOff: Error | undefined;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++;
    if (line.trim() === '') continue;
    if (cutOff) throw cutOff;
    const where = `${file}, line ${number}`;
    const value = parse(line);
    if (value === undefined) cutOff = new Error(`${where}: no JSON: ${line.slice(0, 200)}`);
    else entries.push(entryOf(value, where));
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function entryOf(value: unknown, where: string): HistoryEntry {
  const { data, error } = schema.safeParse(value);
  if (!data) throw new Error(`${where}: no entry of a history:\n${z.prettifyError(error)}`);
  return data satisfies HistoryEntry;
}
