import { setTimeout as pause } from 'node:timers/promises';
import { GuardedResource } from './resource.mjs';

/** ms between two attempts of a node that waits. */
const POLL = 100;
/** A scheduled job: a tick every 2.5 s, by the clock of each node, and 20 ms of work. */
const JOB = { period: 2500, count: 5, work: 20, lease: 1600 };
/** s by which a wrong clock is ahead. */
export const AHEAD = 12;
/** s by which the clocks of the three nodes differ: as clocks do that are kept by NTP badly. */
export const SKEWS = [0, 0.08, 0.16];
export const NAMES = ['warm', 'ticks', 'ahead', 'ahead-2', 'stale', 'frozen', 'failover', 'lost'];

const NO_EXPIRY = 'not applicable: the lock has no expiry, it ends with its connection';
const good = (text) => ({ text, holds: true });
const bad = (text) => ({ text, holds: false });
const none = (text) => ({ text, holds: null });
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/**
 * Each case is one small experiment: real servers, nodes as processes. It returns a sentence, and whether the lock did
 * what a user of locks wants (`holds`; null: the case does not apply, or was not tried; `'failed'`: the experiment itself failed).
 */
export const CASES = [
  { id: 'ticks', title: 'short job, skewed clocks', run: ticks },
  { id: 'ahead', title: 'a clock 12 s ahead', run: clockAhead },
  { id: 'stale', title: 'stale release', run: staleRelease },
  { id: 'frozen', title: 'frozen holder writes late', run: frozenHolder },
  { id: 'failover', title: 'failover before replication', run: failover },
  { id: 'lost', title: 'lost data', run: lostData, hasOwnServers: true },
];

/** How often a job of 20 ms runs in each tick, on three nodes. */
async function ticks({ peer, nodes: { a, b, c } }) {
  const { period, count, work, lease } = JOB;
  // The first call of a process is slow, in Java most of all.
  await Promise.all([a, b, c].map((node) => asked(node, 'acquire', 'warm', lease)));
  const first = Math.ceil(Date.now() / period) + 1;
  const words = ['ticks', 'ticks', first, period, count, work, lease];
  const answers = await Promise.all([a, b, c].map((node) => asked(node, ...words)));
  const runs = answers.flatMap((answer) => answer.runs).length;
  const text = `${runs} runs in ${count} ticks`;
  if (runs === count) return good(text);
  return bad(runs > count && peer.kind === 'peer' ? `${text}: the job's end releases` : text);
}

/** Can the node with the wrong clock take a lock that is held, or block one for longer than its time? */
async function clockAhead({ peer, nodes: { a, ahead } }) {
  if (peer.id === 'pg-advisory') return none('not applicable: no clock is used');
  const lease = 3000;
  const held = await mustHold(a, 'ahead', lease);
  const early = isWithin(await firstGrant(ahead, 'ahead', { lease, within: lease - 1000 }), held);
  await mustHold(ahead, 'ahead-2', lease);
  const free = await firstGrant(a, 'ahead-2', { lease, within: 3 * lease });
  const blocked =
    free === undefined ? `still blocked after ${seconds(3 * lease)}` : `free again after ${seconds(free.after)}`;
  const text = `${early ? 'two holders' : 'one holder'}; a lock for ${seconds(lease)} is ${blocked}`;
  return early || free === undefined || free.after > lease + 1500 ? bad(text) : good(text);
}

/** The first holder releases after its time, while another one holds. Then a third attempt must be refused. */
async function staleRelease({ peer, nodes: { a, b, c } }) {
  if (peer.id === 'pg-advisory') return none(NO_EXPIRY);
  await mustHold(a, 'stale', 2000);
  const second = await firstGrant(b, 'stale', { lease: 20_000, within: 6000 });
  if (!second) return bad('the lock did not expire within 6 s');
  const answer = await a.ask('release');
  const third = isWithin(await firstGrant(c, 'stale', { lease: 20_000, within: 500 }), second);
  const said = answer.error === undefined ? '' : ', and an error said so';
  return third ? bad("released the new holder's lock: two holders") : good(`the new holder kept its lock${said}`);
}

/** The holder is frozen past its time, then writes to a resource that checks tokens. */
async function frozenHolder({ peer, nodes: { a, b } }) {
  const lease = 2000;
  const resource = new GuardedResource();
  const first = await mustHold(a, 'frozen', lease, 'keep');
  a.freeze();
  const second = await firstGrant(b, 'frozen', { lease: 20_000, within: 3 * lease });
  if (second) resource.write(second.token);
  a.thaw();
  if (!second) return none(`no second holder: the others wait as long as the holder is frozen (${seconds(3 * lease)})`);
  const { believes } = await asked(a, 'status');
  const isApplied = resource.write(first.token);
  const knew = believes ? BELIEVING[peer.provider ? 'mute' : 'asked'] : 'its library knew when asked';
  if (!isApplied) return good(`stale write refused by its token; ${knew}`);
  return bad(`stale write applied, there is no token; ${knew}`);
}

/** ShedLock's lock has no method that says whether it is held. */
const BELIEVING = { mute: 'its library can not be asked', asked: 'its library still said that it holds' };

/** The primary grants, and dies before the replica has the grant. */
async function failover({ peer, bed, nodes: { a, b } }) {
  if (!bed.failover) return none(NO_FAILOVER[peer.servers > 1 ? 'redlock-3' : peer.server]);
  await bed.failover.cut();
  const held = await mustHold(a, 'failover', bed.lease, 'keep');
  await bed.failover.kill();
  return twoHolders(a, b, 'failover', held);
}

const NO_FAILOVER = {
  'redlock-3': 'not applicable: its servers have no replicas (see lost data)',
  postgres: 'not tried: it needs an asynchronous standby',
  hazelcast: 'not applicable: a member confirms a write when its copies are written',
};

/** The data are gone while a node holds the lock. */
async function lostData({ bed, nodes: { a, b } }) {
  const held = await mustHold(a, 'lost', bed.lease, 'keep');
  await bed.lose();
  const { text, ...result } = await twoHolders(a, b, 'lost', held);
  return { ...result, text: `${text} (${bed.lost})` };
}

/** Whether b gets the lock while a has it and its library still says so. */
async function twoHolders(a, b, name, held) {
  const { lease } = held;
  const began = performance.now();
  const second = await firstGrant(b, name, { lease, within: lease - 1000 - (began - held.since) });
  if (!isWithin(second, held)) return good('one holder');
  const after = seconds(second.at - began);
  const { believes } = await asked(a, 'status');
  return believes
    ? bad(`two holders, ${after} after the fault`)
    : good(`a second holder ${after} after the fault; the first one's library knew when asked`);
}

/**
 * Whether a grant came while another one surely lasted: a slow machine may answer after its end. The time of `held`
 * began when its request left or later.
 */
export function isWithin(grant, held) {
  return grant !== undefined && grant.at < held.since + held.lease;
}

async function asked(node, ...words) {
  const answer = await node.ask(...words);
  if (answer.error !== undefined) throw new Error(`${words[0]}: ${answer.error}`);
  return answer;
}

async function mustHold(node, name, lease, keep = 'plain') {
  const granted = await firstGrant(node, name, { lease, within: 10_000, keep });
  if (!granted) throw new Error(`the free lock "${name}" was refused for 10 s`);
  return granted;
}

/**
 * Tries until the node gets the lock. An error counts as refused.
 *
 * @returns the grant: when its request left (`since`) and was answered (`at`), and ms of waiting; undefined if it is
 * refused all the time
 */
async function firstGrant(node, name, { lease, within, keep = 'plain' }) {
  const began = performance.now();
  do {
    const since = performance.now();
    const { held, token } = await node.ask('acquire', name, lease, keep);
    const at = performance.now();
    if (held) return { token, lease, since, at, after: at - began };
    await pause(POLL);
  } while (performance.now() - began < within);
  return undefined;
}
