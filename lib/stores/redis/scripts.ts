import { createHash } from 'node:crypto';
import { DOUBT } from '../../core/decision/index.js';
import { SEAL } from '../../core/store/message-seals.js';
import type { Notify } from '../../core/store/driver.js';
import type { Primary } from './clients/redis-client.js';
import { replyCodeOf } from './failures.js';

/** A Lua script. The server runs it as one step: no other command runs in between. */
export interface Script {
  readonly text: string;
  /** Name under which the server keeps it. */
  readonly sha: string;
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Runs a script by its name, and sends its text when the server does not know it. Scripts are forgotten when a server
 * restarts, and after a failover.
 *
 * @param server a client, or one server for a script without keys
 */
export function runScript(
  server: Primary,
  script: Script,
  keys: readonly string[] = [],
  args: readonly string[] = [],
): Promise<unknown> {
  const send = (command: string, name: string): Promise<unknown> =>
    server.command(keys[0] ?? '', [command, name, String(keys.length), ...keys, ...args]);
  return send('evalsha', script.sha).catch((error: unknown) => {
    if (replyCodeOf(error) !== 'NOSCRIPT') throw error;
    return send('eval', script.text);
  });
}

/**
 * Before version 7, Redis checks min-replicas-to-write for commands of clients, but not for those of scripts. So scripts
 * check it themselves there: INFO has the number of replicas that keep up only if a minimum is set, and not the minimum.
 * `redis.REDIS_VERSION` exists since version 7. Without effects replication, a write must not follow INFO.
 */
const REFUSE_WITHOUT_REPLICAS = `
if not redis.REDIS_VERSION then
  redis.replicate_commands()
  if string.find(redis.call('INFO', 'replication'), '\\nmin_slaves_good_slaves:0[\\r\\n]') then
    return redis.error_reply('NOREPLICAS Not enough good replicas to write.')
  end
end
`;

/** A script whose writes must not get lost unnoticed. */
const writing = (text: string): Script => script(REFUSE_WITHOUT_REPLICAS + text);

/**
 * A server may have taken over with a copy that lacks the newest writes, or have started with an old file. Its data don't
 * show that. But it has another replication id than the server that wrote them: each promotion and each start makes a
 * new one. So each bucket keeps the id under which it was written. When the ids differ, all records of the bucket are
 * marked as doubted. That happens in the same step as the first write, so no write follows from an old text.
 *
 * The keys of the records are not declared. They are in the slot of the index. Other programs may have written values of
 * other types: such a record has no text to doubt, and with such an index or origin `mark` answers the error of Redis.
 */
const DOUBT_RECORDS = `
local info = redis.call('INFO', 'replication')
local _, last = string.find(info, 'master_replid:', 1, true)
local id = last and string.match(info, '^%x+', last + 1)
local known = {}
local function mark(index, origin)
  if not id or known[index] then return end
  local former = redis.pcall('GET', origin)
  if type(former) == 'table' then return former end
  if former ~= id then
    local keys = redis.pcall('ZRANGE', index, 0, -1)
    if keys.err then return keys end
    local record = string.sub(index, 1, -1 - #'index') .. 'record:'
    for _, key in ipairs(keys) do
      local text = redis.pcall('GET', record .. key)
      if type(text) == 'string' and string.sub(text, 1, 1) ~= '${DOUBT}' then
        redis.call('SET', record .. key, '${DOUBT}' .. text)
      end
    end
    redis.call('SET', origin, id)
  end
  known[index] = true
end
`;

/** Marks the records of a bucket if another server may have lost writes. KEYS: index of the bucket, its origin. */
export const DOUBT_BUCKET = writing(`${DOUBT_RECORDS} return mark(KEYS[1], KEYS[2])`);

const byte = (character: string): number => character.charCodeAt(0);

/** Flags of {@link compareAndSet}: the place of the first bucket, and who gets a message. */
export const FIRST_PLACE = 'A';
export const NOTIFIED: Readonly<Record<Notify, string>> = { all: 'a', waiting: 'w', none: 'n' };

/**
 * Compares and writes records, each by itself. KEYS: the index and the origin of each bucket, then the key of each record.
 * ARGV: the flags of all records, the writer's id, the channel of changes, the prefix of the channels of those that wait, the
 * seals of the messages, one after another; then for each record the expected text and the next text. Flags: one character for the place of the record's bucket, from
 * {@link FIRST_PLACE} on; 1 if a text is expected, otherwise 0; and who gets a message, as in {@link NOTIFIED}.
 *
 * Answers 1 for each that was written, 0 for each whose text is another one, and an error for each that Redis refuses: a key
 * may have a value of another type, and Redis does not take back the writes before an error.
 *
 * The index is written first, and with each write: so it never lacks a record, and comes back if it was evicted. For
 * other reasons Redis refuses only the first write of a script, so an error of all means that no record was written.
 *
 * A client spends more time on an argument than on its bytes, so what is the same for all records is sent once. A message
 * begins with its seal (`message-seals.ts`), the writer, the length of the key in UTF-16 units, and the key.
 *
 * @param refused Lua that runs before a record of a bucket is compared: an error if it can't be
 */
const compareAndSet = (refused: string): string => `
local function unitsOf(key)
  if not string.find(key, '[\\128-\\255]') then return #key end
  local _, continued = string.gsub(key, '[\\128-\\191]', '')
  local _, halves = string.gsub(key, '[\\240-\\244]', '')
  return #key - continued + halves
end
local flags, writer, changes, waiting, seals = unpack(ARGV, 1, 5)
local try, byte = redis.pcall, string.byte
local answers = {}
local first, sealed = #KEYS - #flags / 3, 0
for i = 1, #flags / 3 do
  local place, isExpected, notify = byte(flags, 3 * i - 2, 3 * i)
  local bucket = place - ${byte(FIRST_PLACE)}
  local index, origin, record = KEYS[2 * bucket + 1], KEYS[2 * bucket + 2], KEYS[first + i]
  local expected, text = ARGV[2 * i + 4], ARGV[2 * i + 5]
  local seal = string.sub(seals, sealed + 1, sealed + ${SEAL})
  if notify ~= ${byte(NOTIFIED.none)} then sealed = sealed + ${SEAL} end
  local found = ${refused} or try('GET', record)
  if type(found) == 'table' then
    answers[i] = found
  elseif isExpected == ${byte('1')} and found == expected or isExpected == ${byte('0')} and not found then
    local key = string.sub(record, #index + 1 + #'record:' - #'index')
    local indexed = try('ZADD', index, 0, key)
    local written = type(indexed) == 'table' and indexed or try('SET', record, text)
    if not written.err and notify ~= ${byte(NOTIFIED.none)} then
      local message = seal .. writer .. ' ' .. unitsOf(key) .. ' ' .. key .. text
      try('PUBLISH', notify == ${byte(NOTIFIED.all)} and changes or waiting .. key, message)
    end
    answers[i] = written.err and written or 1
  else
    answers[i] = 0
  end
end
return answers
`;

export const COMPARE_AND_SET = writing(`${DOUBT_RECORDS} ${compareAndSet('mark(index, origin)')}`);

/** The same, for a server that loses no write that it has confirmed. */
export const COMPARE_AND_SET_DURABLE = writing(compareAndSet('nil'));

/** The time, together with the name of the server whose time it is, and what else must be known of it. */
export const LOOK_AT_SERVER = script(`
local time = redis.call('TIME')
local info = redis.call('INFO', 'server') .. redis.call('INFO', 'memory') .. redis.call('INFO', 'replication')
local facts = { time[1], time[2] }
for _, field in ipairs({ 'run_id', 'redis_version', 'role', 'maxmemory', 'maxmemory_policy', 'master_replid' }) do
  facts[#facts + 1] = string.match(info, '\\n' .. field .. ':([^\\r\\n]*)') or ''
end
return facts
`);

/** Appends to a journal. KEYS: stream. ARGV: most texts to keep, texts. */
export const APPEND = script(`
for i = 2, #ARGV do redis.call('XADD', KEYS[1], '*', 't', ARGV[i]) end
redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[1])
return 1
`);

/**
 * The sorted set of texts compares bytes. Texts are compared by UTF-16 units, and the two differ for characters beyond
 * U+FFFF: those are written as their two halves, each like a character of its own. A text ends with the bytes 0 and 1, so
 * that a text comes before those that begin with it; a 0 within a text is followed by 255.
 */
const ORDER = `
local function halves(character)
  local a, b, c, d = string.byte(character, 1, 4)
  local code = ((a % 8) * 64 + b % 64) * 4096 + (c % 64) * 64 + d % 64 - 65536
  local high, low = math.floor(code / 1024), code % 1024
  return string.char(237, 160 + math.floor(high / 64), 128 + high % 64, 237, 176 + math.floor(low / 64), 128 + low % 64)
end
local function ordered(text)
  text = string.gsub(text, '%z', '\\0\\255')
  return (string.gsub(text, '[\\240-\\244][\\128-\\191][\\128-\\191][\\128-\\191]', halves))
end
`;

/** Whether the script has to look for such characters in a text. It costs the server a third of a write. */
export const hasOwnOrder = (text: string): boolean => /[\0\ud800-\udfff]/.test(text);

/** Lua that compares and writes one text. `order` may be nil. See {@link WRITE_TEXTS}. */
const WRITE_TEXT = `
local function write(texts, order, key, expected, text, flags)
  local isExpected, isNext, hasOwnOrder = string.match(flags, '(.)(.)(.)')
  if isExpected == '0' then expected = false end
  if isNext == '0' then text = false end
  local function member(of) return (hasOwnOrder == '1' and ordered(of) or of) .. '\\0\\1' .. key end
  if redis.call('HGET', texts, key) ~= expected then return 0 end
  if order and text then redis.call('ZADD', order, 0, member(text)) end
  if order and expected and expected ~= text then redis.call('ZREM', order, member(expected)) end
  if text then redis.call('HSET', texts, key, text) else redis.call('HDEL', texts, key) end
  return 1
end
`;

/**
 * Compares and writes texts, each by itself. A text's order is written first. Redis refuses only the first write of a
 * script, so an error means that nothing was changed.
 *
 * KEYS: hash of texts, perhaps their order. ARGV: for each text its key, the expected text, the next text, and three flags,
 * each 1 or 0: whether a text is expected, whether there is a next one (otherwise it is removed), and whether one of the two
 * {@link hasOwnOrder}. Answers 1 for each that was written, and 0 for each whose text is another one.
 */
export const WRITE_TEXTS = writing(`${ORDER} ${WRITE_TEXT}
local answers = {}
for i = 1, #ARGV, 4 do answers[#answers + 1] = write(KEYS[1], KEYS[2], unpack(ARGV, i, i + 3)) end
return answers
`);

/** KEYS: hash of texts, their order. ARGV: from, to, limit. Answers with keys and texts in turn. */
export const RANGE_OF_TEXTS = script(`${ORDER}
local members = redis.call('ZRANGEBYLEX', KEYS[2], '[' .. ordered(ARGV[1]), '(' .. ordered(ARGV[2]), 'LIMIT', 0, ARGV[3])
local entries = {}
for _, each in ipairs(members) do
  local _, last = string.find(each, '\\0\\1', 1, true)
  local key = string.sub(each, last + 1)
  local text = redis.call('HGET', KEYS[1], key)
  if text then
    entries[#entries + 1] = key
    entries[#entries + 1] = text
  end
end
return entries
`);

/** ms after which a poller looks again without a message: a message may be lost, or go to a client that is frozen. */
export const LONGEST_POLL = 5000;

/**
 * Lua that wakes pollers of a queue. In a Cluster PUBLISH does not count the receivers at other servers; elsewhere a poller that
 * is gone is skipped. One that missed two looks is gone.
 */
const WAKE = `
local function wake(pollers, message, channels, isCluster, count)
  redis.call('ZREMRANGEBYSCORE', pollers, '-inf', '(' .. redis.call('TIME')[1] - ${(2 * LONGEST_POLL) / 1000})
  while count > 0 do
    local poller = redis.call('ZPOPMIN', pollers)[1]
    if not poller then return end
    if redis.call('PUBLISH', channels .. poller, message) > 0 or isCluster == '1' then count = count - 1 end
  end
end
`;

/** Adds hints, and wakes as many pollers. KEYS: hints, pollers. ARGV: message, prefix of channels, '1' in a Cluster, hints. */
export const OFFER_HINTS = script(`${WAKE}
redis.call('RPUSH', KEYS[1], unpack(ARGV, 4))
wake(KEYS[2], ARGV[1], ARGV[2], ARGV[3], #ARGV - 3)
return 1
`);

/** A poller was woken and no longer wants a hint: wakes others. KEYS and ARGV as before, without hints. */
export const PASS_ON = script(`${WAKE}
wake(KEYS[2], ARGV[1], ARGV[2], ARGV[3], redis.call('LLEN', KEYS[1]))
return 1
`);

/**
 * {@link WRITE_TEXTS}, and adds a hint for each text that was written and has one. KEYS: hash of texts, their order; then the hints
 * and the pollers of each queue. ARGV: prefix of channels, then the message of each queue. After them for each text as in WRITE_TEXTS,
 * with two arguments more: the number of its queue, from 1 on, or 0; and the hint, if a fourth flag is 1. Else it is the next text.
 *
 * The keys are in several slots, so this is for no Cluster. The texts are written when hints are added, so an error there, as
 * by a value of another type under the key of a queue, must be none of the writes.
 */
export const WRITE_TEXTS_WITH_HINTS = writing(`${ORDER} ${WRITE_TEXT} ${WAKE}
local answers, added = {}, {}
local queues = #KEYS / 2 - 1
for queue = 1, queues do added[queue] = 0 end
for i = queues + 2, #ARGV, 6 do
  local isWritten = write(KEYS[1], KEYS[2], unpack(ARGV, i, i + 3))
  local queue = tonumber(ARGV[i + 4])
  if isWritten == 1 and queue > 0 then
    local isOwn = string.sub(ARGV[i + 3], 4, 4) == '1'
    local length = redis.pcall('RPUSH', KEYS[2 * queue + 1], isOwn and ARGV[i + 5] or ARGV[i + 2])
    if type(length) == 'number' then added[queue] = added[queue] + 1 end
  end
  answers[#answers + 1] = isWritten
end
for queue = 1, queues do
  if added[queue] > 0 then pcall(wake, KEYS[2 * queue + 2], ARGV[queue + 1], ARGV[1], '0', added[queue]) end
end
return answers
`);

/** Takes a hint; without one, notes when this client waits. KEYS: hints, pollers. ARGV: client. */
export const POLL_HINT = script(`
local hint = redis.call('LPOP', KEYS[1])
if hint then return hint end
redis.call('ZADD', KEYS[2], redis.call('TIME')[1], ARGV[1])
return false
`);

/**
 * Removes each hint once. KEYS: hints. ARGV: hints. Looks at the first and the last ones only: to look at 1,000,000 would block
 * the server for 60 ms.
 */
export const REMOVE_HINTS = script(`
local searched = 10000
for _, hint in ipairs(ARGV) do
  if redis.call('LPOS', KEYS[1], hint, 'MAXLEN', searched) then
    redis.call('LREM', KEYS[1], 1, hint)
  elseif redis.call('LPOS', KEYS[1], hint, 'RANK', -1, 'MAXLEN', searched) then
    redis.call('LREM', KEYS[1], -1, hint)
  end
end
return 1
`);
