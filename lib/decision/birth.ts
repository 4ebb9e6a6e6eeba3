import { z } from 'zod';
import { decodeStored, quote } from './record.codec.js';
import { EMPTY_SHARD, type ShardRecord } from './shard.js';
import { restoreShard } from './shard-recovery.js';
import type { View } from './record.js';

/**
 * The birth of a cluster. A shard that is missing counts as lost, and comes back with a grace of a quarter of an hour; but
 * a fresh cluster must grant within seconds. So one record beside the shards, the root, tells when they were made:
 *
 *     absent ──▶ announced ──(stood unchanged for a while)──▶ creating ──(all shards made, under its id)──▶ open
 *                    ▲ each attempt has another id; a creator that died is replaced by another node
 *
 * A node that has read an open root and all shards has history: it grants, and it opens a root that is not open under the
 * id that it knows. A shard under another id than the root's was not made with it, and comes back with the grace.
 */
export interface ShardRoot {
  readonly v: typeof ROOT_VERSION;
  readonly nonce: string;
  /** Shards that are made under it carry it. */
  readonly id: string;
  readonly state: (typeof STATES)[number];
}

const ROOT_VERSION = 1;
const STATES = ['announced', 'creating', 'open'] as const;

/** Not below the shards' prefix: it is no shard. */
export const ROOT_KEY = 'shards:root';

const rootSchema = z.strictObject({
  v: z.literal(ROOT_VERSION),
  nonce: z.string().min(1),
  id: z.string().min(1),
  state: z.enum(STATES),
});

/** @throws CorruptRecordError or NewerRecordError */
export function decodeRoot(text: string): ShardRoot {
  return decodeStored(rootSchema, ROOT_VERSION, 'the root of the names on demand', text);
}

export function encodeRoot({ nonce, id, state }: Omit<ShardRoot, 'v'>): string {
  return `{"v":${ROOT_VERSION},"nonce":${quote(nonce)},"id":${quote(id)},"state":"${state}"}`;
}

/** A shard as the birth of a cluster makes it. */
export function blankShard(birth: string, now: number, nonce: string): ShardRecord {
  return { ...EMPTY_SHARD, nonce, at: now, birth };
}

/** Whether nothing was ever written into a shard since it was made. */
export function isBlank({ seq, grace }: ShardRecord): boolean {
  return seq === 0 && !grace;
}

/**
 * A shard that a node without history found missing, or made under another root: with a grace, under the root's id.
 *
 * @param found the shard in its place, if there is one
 */
export function adoptedShard(birth: string, found: ShardRecord | undefined, view: View, nonce: string): ShardRecord {
  return { ...restoreShard(found ?? EMPTY_SHARD, undefined, view, nonce), birth };
}

export type BirthStep = 'join' | 'open' | 'announce' | 'wait' | 'create';

/**
 * The next step of a node without history. Pure.
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
