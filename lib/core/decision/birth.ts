import { z } from 'zod';
import { decodeStored, quote } from './record.codec.js';
import { EMPTY_SHARD, type ShardRecord } from './shard.js';
import { restoreShard } from './shard-recovery.js';
import type { View } from './record.js';

/**
 * The birth of a cluster. A missing shard counts as lost and is restored with a grace of 15 minutes. But a new cluster
 * must grant within seconds. So one more record, the root, says whether the shards were made:
 *
 *     absent ──▶ announced ──(unchanged for a while)──▶ creating ──(all shards made, with the root's id)──▶ open
 *                    ▲ each attempt has a new id; if the creating node dies, another node takes over
 *
 * A node that has read an open root and all shards has history: it grants. If it finds the root missing or not open, it
 * writes an open root with the id that it knows. A shard with another id than the root was not made with this root, so
 * it is restored with the grace.
 */
export interface ShardRoot {
  readonly v: typeof ROOT_VERSION;
  readonly nonce: string;
  /** Id of this birth. All shards that are made with this root contain it. */
  readonly id: string;
  readonly state: (typeof STATES)[number];
}

const ROOT_VERSION = 1;
const STATES = ['announced', 'creating', 'open'] as const;

/** Does not begin with the shards' prefix, because the root is no shard. */
export const ROOT_KEY = 'shards:root';

const rootSchema = z.strictObject({
  v: z.literal(ROOT_VERSION),
  nonce: z.string().min(1),
  id: z.string().min(1),
  state: z.enum(STATES),
});

/** @throws CorruptRecordError or NewerRecordError */
export function decodeShardRoot(text: string): ShardRoot {
  return decodeStored(rootSchema, ROOT_VERSION, 'the root of the names on demand', text);
}

export function encodeShardRoot({ nonce, id, state }: Omit<ShardRoot, 'v'>): string {
  return `{"v":${ROOT_VERSION},"nonce":${quote(nonce)},"id":${quote(id)},"state":"${state}"}`;
}

/** An empty shard, as the birth of a cluster makes it. */
export function blankShard(birth: string, now: number, nonce: string): ShardRecord {
  return { ...EMPTY_SHARD, nonce, at: now, birth };
}

/** Whether a shard is still as {@link blankShard} made it. */
export function isBlank({ seq, grace }: ShardRecord): boolean {
  return seq === 0 && !grace;
}

/**
 * Restores a shard that a node without history found missing, or with another root's id. The result has a grace and the
 * root's id.
 *
 * @param found the shard that the store has, if any
 */
export function adoptedShard(birth: string, found: ShardRecord | undefined, view: View, nonce: string): ShardRecord {
  return { ...restoreShard(found ?? EMPTY_SHARD, undefined, view, nonce), birth };
}

type BirthStep = 'join' | 'open' | 'announce' | 'wait' | 'create';

/**
 * Decides the next step of a node without history. Pure.
 *
 * | root                  | data with history | strictStart | stood long enough | step     |
 * | --------------------- | ----------------- | ----------- | ----------------- | -------- |
 * | open                  | any               | any         | any               | join     |
 * | not open, or absent   | yes               | any         | any               | open     |
 * | absent                | no                | yes         | any               | open     |
 * | absent                | no                | no          | any               | announce |
 * | announced or creating | no                | any         | no                | wait     |
 * | announced or creating | no                | any         | yes               | create   |
 */
export function nextBirthStep(
  root: ShardRoot | undefined,
  facts: { readonly hasData: boolean; readonly isStrict: boolean; readonly hasStood: boolean },
): BirthStep {
  if (root?.state === 'open') return 'join';
  if (facts.hasData) return 'open';
  if (!root) return facts.isStrict ? 'open' : 'announce';
  return facts.hasStood ? 'create' : 'wait';
}
