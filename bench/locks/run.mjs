/**
 * Locks, permits and tasks of several libraries beside ours, in one run, on real servers on loopback. Needs a built
 * package: `npm run bench:peers` builds it.
 *
 *   --parts speed,cases,tasks   runs these parts; all by default, with --only all but the tasks
 *   --only redlock,ours-redis   runs these locks only
 *   --cases stale,frozen        runs these cases only: ticks, ahead, stale, frozen, failover, lost
 *   --seconds 5                 s of measurement for each lock and number of flows
 *   --json                      prints the results as JSON to standard output
 *   --write                     writes docs/comparison.md and docs/images/comparison.svg
 *   --from FILE                 takes the results from a file that --json printed; runs nothing
 *   --note TEXT                 a sentence about the run for the page
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { format } from 'prettier';
import { onHazelcast } from '../hazelcast.mjs';
import { peers as tasks } from '../peers.mjs';
import { pinned, selected } from './catalogue.mjs';
import { chartOf } from './chart.mjs';
import { CASES } from './cases.mjs';
import { correctness } from './correctness.mjs';
import { machine, versions } from './machine.mjs';
import { available, lackOfFaketime } from './needs.mjs';
import { pageOf } from './page.mjs';
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
  await writeFile(new URL('comparison.md', DOCS), await formatted(pageOf(results)));
  await writeFile(new URL('images/comparison.svg', DOCS), chartOf(results));
}

async function measured() {
  const parts = namesOf(values.parts ?? (values.only && 'speed,cases'), PARTS, 'part');
  const ids = namesOf(
    values.cases,
    CASES.map(({ id }) => id),
    'case',
  );
  const cases = CASES.filter(({ id }) => ids.includes(id));
  const seconds = secondsOf(values.seconds);
  const { found, missing } = await available(selected(values.only?.split(',')));
  const run = { date: new Date().toISOString().slice(0, 10), ...machine(), versions: await versions(found), seconds };
  if (parts.includes('speed')) run.speed = await speed(found, seconds, say);
  if (parts.includes('cases')) run.cases = await casesOf(found, cases, missing);
  if (parts.includes('tasks')) {
    run.tasks = await tasksOf(missing);
    for (const name of ['bullmq', 'graphile-worker', 'pg-boss']) run.versions[name] = pinned(name);
  }
  for (const line of missing) say(line);
  return { ...run, missing, took: Math.round((performance.now() - began) / 1000), peers: found.map(described) };
}

async function casesOf(found, cases, missing) {
  const lack = await lackOfFaketime();
  if (lack === undefined) return correctness(found, cases, say);
  missing.push(`left out the cases: ${lack}`);
  return {};
}

/** Our side of this part needs a Hazelcast member. */
async function tasksOf(missing) {
  const needed = await available([selected(['ours-hazelcast'])[0]]);
  missing.push(...needed.missing.map((line) => `${line} (tasks)`));
  if (needed.found.length === 0) return [];
  say('tasks');
  const { log } = console;
  console.log = say;
  try {
    return await onHazelcast(tasks);
  } catch (error) {
    // The other parts took minutes: their results are kept.
    missing.push(`left out the tasks: ${error.message}`);
    return [];
  } finally {
    console.log = log;
  }
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

function described({ version, id, name, kind, server, differs }) {
  return { id, name, kind, server, differs, version: version() };
}

function formatted(text) {
  return format(text, { parser: 'markdown', singleQuote: true, printWidth: 120 });
}
