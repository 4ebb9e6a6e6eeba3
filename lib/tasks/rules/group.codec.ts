import { z } from 'zod';
import { decodeStored, storedCount, storedList } from '../../core/decision/index.js';
import { LARGEST_GROUP } from './task-id.js';
import { cancellationSchema } from './task.codec.js';
import { Bits, PAGE_BITS, type EndedMembersPage, type GroupRoot, pagesOf } from './group.js';

const VERSION = 1;

const id = z.string().min(1).max(500);
const nonce = z.string().min(1).max(100);
const bits = z
  .base64()
  .max(PAGE_BITS)
  .transform((text) => Bits.parse(text));

const rootSchema = z.strictObject({
  v: z.literal(VERSION),
  group: id,
  /** Empty for the group that counts the sub-tasks of one task. */
  type: z.string().max(100),
  nonce,
  incarnation: storedCount,
  state: z.enum(['open', 'joining', 'closed']),
  total: storedCount.max(LARGEST_GROUP).optional(),
  highest: storedCount.max(LARGEST_GROUP).optional(),
  begun: storedList(storedCount.max(pagesOf(LARGEST_GROUP)), pagesOf(LARGEST_GROUP)),
  full: storedList(storedCount.max(pagesOf(LARGEST_GROUP)), pagesOf(LARGEST_GROUP)),
  stopped: cancellationSchema.optional(),
  dependents: z.array(id).optional(),
  former: z.strictObject({ incarnation: storedCount, pages: storedCount.max(pagesOf(LARGEST_GROUP)) }).optional(),
});

const pageSchema = z.strictObject({ v: z.literal(VERSION), nonce, ended: bits, failed: bits });

/** @throws CorruptRecordError, NewerRecordError */
export function decodeGroupRoot(text: string): GroupRoot {
  const { v: _v, ...root } = decodeStored(rootSchema, VERSION, 'the root of a group of tasks', text);
  return root as GroupRoot;
}

export function encodeGroupRoot(root: GroupRoot): string {
  return JSON.stringify({ v: VERSION, ...root });
}

/** @throws CorruptRecordError, NewerRecordError */
export function decodePage(text: string): EndedMembersPage {
  const { v: _v, ...page } = decodeStored(pageSchema, VERSION, 'a page of a group of tasks', text);
  return page;
}

export function encodePage({ nonce: written, ended, failed }: EndedMembersPage): string {
  return JSON.stringify({ v: VERSION, nonce: written, ended: ended.toString(), failed: failed.toString() });
}

export function rootKey(group: string): string {
  return `root:${group}`;
}

export function pageKey(group: string, incarnation: number, page: number): string {
  return `page:${incarnation}:${page}:${group}`;
}
