import { z } from 'zod';
import {
  CorruptRecordError,
  decodeStored,
  show,
  storedCount,
  storedList,
  storedTime,
} from '../../core/decision/index.js';
import { LONGEST_ID } from '../resource-id.js';
import { type LimboPage, MOST_IN_PAGE, type OwnedPage, PAGE_VERSION } from './page.js';
import { type AllocationRoot, ROOT_VERSION } from './root.js';

/** Characters: far more than the largest valid text. A longer text would block the event loop while it is parsed. */
const LONGEST_TEXT = 2 * 1024 * 1024;
/** More nodes than a store could serve heartbeats of. */
const MOST_MEMBERS = 10_000;
const MOST_PAGES = 10_000;
const MOST_LOST = 100_000;

const key = z.string().min(1).max(300);
const inc = z.string().min(1).max(300);
const pageKeys = storedList(key, MOST_PAGES).refine(isDistinct, 'has a page twice');
const ids = storedList(z.string().min(1).max(LONGEST_ID), MOST_IN_PAGE);

/** A list of pairs, not an object with ids as keys, so an id such as "__proto__" is safe. */
const membersSchema = storedList(z.tuple([inc, pageKeys]), MOST_MEMBERS)
  .refine((members) => isDistinct(members.map(([id]) => id)), 'has a member twice')
  .transform((members) => new Map<string, readonly string[]>(members));

const rootSchema = z
  .strictObject({
    v: z.literal(ROOT_VERSION),
    nonce: z.string().min(1).max(100),
    born: z.string().min(1).max(100),
    seq: storedCount.positive(),
    term: storedCount,
    at: storedTime,
    lease: storedTime,
    lastToken: storedCount,
    members: membersSchema,
    limbo: pageKeys,
    lost: storedList(z.strictObject({ from: inc, seq: storedCount }), MOST_LOST),
    grace: z.boolean(),
  })
  .refine(
    ({ members, limbo }) => isDistinct([...[...members.values()].flat(), ...limbo]),
    'has one page in two places, so two members would own its resources',
  );

const ownedSchema = z
  .strictObject({
    id: key,
    v: z.literal(PAGE_VERSION),
    owned: storedList(z.tuple([storedCount, ids]), MOST_IN_PAGE).refine(
      (items) => fitsPage(items.map(([, list]) => list)),
      'has an id twice, or too many',
    ),
  })
  .transform(({ v, owned }): OwnedPage => ({ v, owned }));

const limboSchema = z
  .strictObject({
    id: key,
    v: z.literal(PAGE_VERSION),
    limbo: storedList(z.tuple([inc, storedCount, ids]), MOST_IN_PAGE).refine(
      (items) => fitsPage(items.map(([, , list]) => list)),
      'has an id twice, or too many',
    ),
  })
  .transform(({ v, limbo }): LimboPage => ({ v, limbo }));

function isDistinct(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

function fitsPage(lists: readonly (readonly string[])[]): boolean {
  const all = lists.flat();
  return all.length <= MOST_IN_PAGE && isDistinct(all);
}

/** @throws CorruptRecordError or NewerRecordError */
export function decodeAllocationRoot(group: string, text: string): AllocationRoot {
  const subject = `the owner map of allocation group ${show(group)}`;
  return decodeStored(rootSchema, ROOT_VERSION, subject, checked(subject, text));
}

/**
 * @returns undefined if its slot has another text: the page was lost
 * @throws CorruptRecordError or NewerRecordError
 */
export function decodeOwnedPage(key: string, text: string): OwnedPage | undefined {
  return isPage(key, text) ? decodePage(ownedSchema, key, text) : undefined;
}

/** As {@link decodeOwnedPage}. */
export function decodeLimboPage(key: string, text: string): LimboPage | undefined {
  return isPage(key, text) ? decodePage(limboSchema, key, text) : undefined;
}

/** The id comes first, so that the text of another page need not be parsed. */
function isPage(key: string, text: string): boolean {
  return text.startsWith(JSON.stringify({ id: key }).slice(0, -1));
}

function decodePage<P>(schema: z.ZodType<P>, key: string, text: string): P {
  const subject = `page ${show(key)} of an owner map`;
  return decodeStored(schema, PAGE_VERSION, subject, checked(subject, text));
}

function checked(subject: string, text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  throw new CorruptRecordError(
    `${subject} can't be read (it has ${text.length} characters, more than ${LONGEST_TEXT}): nothing changes until it is repaired or reset`,
  );
}

export function encodeAllocationRoot(root: AllocationRoot): string {
  return JSON.stringify({ ...root, members: [...root.members] });
}

export function encodePage(key: string, page: OwnedPage | LimboPage): string {
  return JSON.stringify({ id: key, ...page });
}
