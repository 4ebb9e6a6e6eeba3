import { z } from 'zod';
import {
  NO_FINGERPRINT,
  changeSchema,
  decodeStored,
  graceSchema,
  isOriginWhole,
  originFields,
  pauseSchema,
  quote,
  storedDefinitionSchema,
  storedPermitSchema,
  textOfPermit,
} from './record.codec.js';
import { type NameEntry, ShardNames } from './shard-names.js';
import { EMPTY_SHARD, SHARD_VERSION, type ShardRecord } from './shard.js';
import { HIGHEST_COUNT, LATEST, storedCount, storedList, storedTime } from './stored-values.js';

const nameSchema = z.string().min(1);

const namedSchema = z
  .strictObject({
    name: nameSchema,
    revision: storedCount,
    permits: storedList(storedPermitSchema),
    definition: storedDefinitionSchema.optional(),
    ...originFields,
    change: changeSchema.optional(),
    pause: pauseSchema.optional(),
  })
  .refine(isOriginWhole, NO_FINGERPRINT);

/** Refuses two entries of one name: the second would hide the permits of the first. */
const namesSchema = storedList(namedSchema)
  .refine((entries) => isDistinct(entries.map(({ name }) => name)), 'has a name twice')
  .transform((entries) => ShardNames.of(entries.map(({ name, ...entry }) => [name, entry])));

const claimsSchema = storedList(z.tuple([nameSchema, z.string()]))
  .refine((claims) => isDistinct(claims.map(([name]) => name)), 'has a name twice')
  .transform((claims) => new Map(claims));

const shardSchema = z.strictObject({
  v: z.literal(SHARD_VERSION),
  nonce: z.string().min(1),
  seq: storedCount,
  at: storedTime,
  birth: z.string(),
  lastToken: storedCount,
  revision: storedCount,
  names: namesSchema,
  claims: claimsSchema,
  grace: graceSchema.optional(),
});

function isDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

/**
 * Reads a shard's text. The text has lists of names, not objects with names as keys, so a name such as "__proto__" is
 * safe.
 *
 * @throws CorruptRecordError or NewerRecordError
 */
export function decodeShard(shard: string, text: string): ShardRecord {
  return namelessShard(text) ?? decodeStored(shardSchema, SHARD_VERSION, `shard ${shard} of the names on demand`, text);
}

/** As {@link encodeShard} writes them: a text that needs no escape, and a count. */
const [WORD, COUNT] = [String.raw`"([ !#-[\]-~]+)"`, String.raw`(0|[1-9]\d{0,15})`];
const GRACE = String.raw`\{"id":${WORD},"expiresAt":${COUNT},"duration":${COUNT}\}`;
const NAMELESS = new RegExp(
  String.raw`^\{"v":${SHARD_VERSION},"nonce":${WORD},"seq":${COUNT},"at":${COUNT},"birth":${WORD},` +
    String.raw`"lastToken":${COUNT},"revision":${COUNT},"names":\[\],"claims":\[\](?:,"grace":${GRACE})?\}$`,
);

/**
 * Reads the text of a shard without names. A node reads all shards when it starts, and most have none: the schema would
 * take several times as long.
 *
 * @returns undefined for any other text: then the schema decides
 */
function namelessShard(text: string): ShardRecord | undefined {
  const [, nonce, seq, at, birth, lastToken, revision, id, expiresAt, duration] = NAMELESS.exec(text) ?? [];
  if (nonce === undefined || birth === undefined) return undefined;
  const counts = { seq: Number(seq), at: Number(at), lastToken: Number(lastToken), revision: Number(revision) };
  const grace = id === undefined ? undefined : { id, expiresAt: Number(expiresAt), duration: Number(duration) };
  const isValid = Math.max(...Object.values(counts)) <= HIGHEST_COUNT && counts.at <= LATEST;
  if (!isValid || (grace && Math.max(grace.expiresAt, 2 * grace.duration) > LATEST)) return undefined;
  return { ...EMPTY_SHARD, ...counts, nonce, birth, claims: new Map(), ...(grace && { grace }) };
}

/** Writes a shard's text. */
export function encodeShard({
  v,
  nonce,
  seq,
  at,
  birth,
  lastToken,
  revision,
  names,
  claims,
  grace,
}: ShardRecord): string {
  let claimTexts = '';
  for (const [name, origin] of claims) claimTexts += `${claimTexts === '' ? '' : ','}[${quote(name)},${quote(origin)}]`;
  const graceText = grace ? `,"grace":${JSON.stringify(grace)}` : '';
  return (
    `{"v":${v},"nonce":${quote(nonce)},"seq":${seq},"at":${at},"birth":${quote(birth)},"lastToken":${lastToken},"revision":${revision},` +
    `"names":[${names.text(entryText)}],"claims":[${claimTexts}]${graceText}}`
  );
}

function entryText(name: string, entry: NameEntry): string {
  const { revision, permits, definition, source, fingerprint, change, pause } = entry;
  const rest = definition ? `,${JSON.stringify({ definition, source, fingerprint, change, pause }).slice(1)}` : '}';
  const permitTexts = permits.map(textOfPermit).join(',');
  return `{"name":${quote(name)},"revision":${revision},"permits":[${permitTexts}]${rest}`;
}
