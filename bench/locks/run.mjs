/**
 * Locks, permits and tasks of several libraries beside ours, in one run, on real servers on loopback. Needs a built
 * package: `npm run bench:peers` builds it.
 *
 *   --parts speed,cases,tasks   runs these parts; all by default
 *   --only redlock,bullmq       runs these locks and systems of tasks only; parts without any of them are left out
 *   --cases stale,frozen        runs these cases only: ticks, ahead, stale, frozen, failover, lost
 *   --seconds 5                 s of measurement for each lock and number of flows, and about as many for each of tasks
 *   --json                      prints the results as JSON to standard output
 *   --write                     writes docs/comparison.md and a chart into docs/images; parts that did not run stay there
 *   --from FILE                 takes the results from a file that --json printed; runs nothing
 *   --note TEXT                 a sentence about the run for the page
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { QUEUES } from '../queues/catalogue.mjs';
import { queueSpeed } from '../queues/speed.mjs';
import { CATALOGUE } from './catalogue.mjs';
import { chartOf } from './chart.mjs';
import { CASES } from './cases.mjs';
import { correctness } from './correctness.mjs';
import { machine, versions } from './machine.mjs';
import { available, lackOfFaketime } from './needs.mjs';
import { chartFile, pageOf } from './page.mjs';
import { speed } from './speed.mjs';

const PARTS = ['speed', 'cases', 'tasks'];
const DOCS = new URL('../../docs/', import.meta.url);

const { values } = parseArgs({
  options: {
    parts: { type: 'string' },
    only: { type: 'string' },
    cases: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    from: { type: 'string' },
    note: { type: 'string' },
  },
});

// Each server and each node ends with this process, by a listener of its own.
process.setMaxListeners(0);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Not to standard output, which has the JSON. */
const began = performance.now();
const say = (line) => console.error(`${Math.round((performance.now() - began) / 1000)} s: ${line}`);

const results = values.from ? JSON.parse(await readFile(values.from, 'utf8')) : await measured();
if (values.note !== undefined) results.note = values.note;
if (values.json) console.log(JSON.stringify(results, null, 2));
else console.log(await formatted(pageOf(results)));
if (values.write) {
  const page = new URL('comparison.md', DOCS);
  await writeFile(page, await formatted(pageOf(results, await readFile(page, 'utf8'))));
  if (results.speed) await writeFile(new URL(`images/${chartFile(results)}`, DOCS), chartOf(results));
}

async function measured() {
  const parts = namesOf(values.parts, PARTS, 'part');
  const ids = namesOf(
    values.cases,
    CASES.map(({ id }) => id),
    'case',
  );
  const cases = CASES.filter(({ id }) => ids.includes(id));
  const seconds = secondsOf(values.seconds);
  const only = namesOf(values.only, [...new Set([...CATALOGUE, ...QUEUES].map(({ id }) => id))], 'peer');
  const chosen = (catalogue, ...needed) =>
    catalogue.filter(({ id }) => only.includes(id) && needed.some((part) => parts.includes(part)));
  const locks = await available(chosen(CATALOGUE, 'speed', 'cases'));
  const queues = await available(chosen(QUEUES, 'tasks'));
  const missing = [...new Set([...locks.missing, ...queues.missing])];
  const all = [...locks.found, ...queues.found];
  const run = { date: new Date().toISOString().slice(0, 10), ...machine(), versions: await versions(all), seconds };
  const hasLocks = locks.found.length > 0;
  if (hasLocks && parts.includes('speed')) run.speed = await speed(locks.found, seconds, say);
  if (hasLocks && parts.includes('cases')) run.cases = await casesOf(locks.found, cases, missing);
  if (queues.found.length > 0) run.tasks = await queueSpeed(queues.found, seconds, say);
  for (const line of missing) say(line);
  const took = Math.round((performance.now() - began) / 1000);
  return { ...run, missing, took, peers: locks.found.map(described), queues: queues.found.map(described) };
}

async function casesOf(found, cases, missing) {
  const lack = await lackOfFaketime();
  if (lack === undefined) return correctness(found, cases, say);
  missing.push(`left out the cases: ${lack}`);
  return undefined;
}

/** @throws if one has another name */
function namesOf(text, known, kind) {
  const names = text?.split(',') ?? known;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return names;
  throw new Error(`no ${kind} is named ${unknown.join(', ')}: the ${kind}s are ${known.join(', ')}`);
}

function secondsOf(text) {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0, and is "${text}"`);
  return seconds;
}

function described({ version, id, name, kind, server, differs, promise }) {
  return { id, name, kind, server, differs, promise, version: version() };
}

async function formatted(text) {
  return format(text, { ...(await resolveConfig(DOCS)), parser: 'markdown' });
}
