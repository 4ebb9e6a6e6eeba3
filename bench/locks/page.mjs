import { tasksPart } from '../queues/page.mjs';
import { CASES } from './cases.mjs';
import { FLOWS } from './speed.mjs';
import { TITLES, besideOurs, factsOf, micros, oursOn, table, whole } from './table.mjs';

const COMMAND = 'npm run bench:peers';

/** Experiment of each case, as the page describes it. */
const EXPERIMENTS = {
  ticks: `Three nodes have clocks that are 0, 80 and 160 ms ahead. Each starts a job of 20 ms every 2.5 s, by its own clock, for
five ticks. Wanted: five runs. Each library is used as its documentation shows: ours and ShedLock (\`lockAtLeastFor\`) keep
the lock after a short job, the others release it at the end of the job. With them, an application can also let the lock
expire.`,
  ahead: `The wall clock of one node is 12 s ahead, its monotonic clock is right. It tries to take a lock that another node took
for 3 s. Then it takes a lock for 3 s itself, and a node with a right clock waits for this one. Wanted: never two
holders, and the second lock is free after 3 s and a small margin.`,
  stale: `A node takes a lock for 2 s and does not release it. Another node gets it after that. Then the first node releases,
and a third node tries. Wanted: the third node is refused.`,
  frozen: `The holder of a lock for 2 s is frozen (SIGSTOP). Another node gets the lock and writes to a resource that
refuses a lower token than it has seen. Then the first node goes on (SIGCONT) and writes. Wanted: the resource refuses
this write. It can do so only if the lock has a token that grows.`,
  failover: `A Redis replica loses its link to the primary, the primary grants a lock, and is killed. The replica becomes the
primary, and another node tries at the same address. Wanted: one holder. Ours notices that another server answers, and
grants nothing that may have been granted before ([losses](redis.md#losses)).`,
  lost: `All data of the server are lost while a node holds a lock. Another node tries until 1 s before the lock's time
is over. Wanted: one holder, or a holder whose library knows that its lock is lost. Each library gets new servers for it.`,
};

/**
 * The page docs/comparison.md, from the results of a run as `run.mjs` collects them.
 *
 * @param former the page as it stands: a part that this run left out stays as it is, and so does the speed on other processors
 * @returns Markdown, not yet formatted
 */
export function pageOf(results, former = '') {
  const before = partsOf(former);
  const own = results.speed && speedTitle(results);
  const kept = (isKept) => before.filter(({ title }) => isKept(title)).map(({ text }) => text);
  return [
    INTRO,
    ...(own ? [speedPart(results)] : []),
    ...kept((title) => title.startsWith(SPEED) && title !== own),
    ...(results.cases ? [casesPart(results)] : kept((title) => title === CORRECTNESS)),
    ...(results.tasks ? [tasksPart(results)] : kept((title) => title === 'Tasks')),
  ].join('\n\n');
}

/** The texts below the headings of the second level, with these. */
function partsOf(page) {
  const [, ...parts] = page.split(/^(?=## )/m);
  return parts.map((text) => ({ title: /^## (.*)/.exec(text)[1], text: text.trim() }));
}

const INTRO = `# Comparison

Our permits beside other locks, and our tasks beside other queues. A program wrote this page: don't edit it. Each of its
parts is of one run, and says of which. The speed of locks is shown for each processor on which it was measured, because the
order differs between them.

\`${COMMAND} -- --write\` repeats all parts, and \`${COMMAND} -- --only ours-redis,redlock,bullmq --seconds 1\` is a short run.
You need \`redis-server\`, PostgreSQL, \`faketime\`, and for Hazelcast and ShedLock a JDK 17 and Maven. A tool that is missing is
named, and its rows are left out. The peers are installed into \`bench/peers\`.`;

const SPEED = 'Speed of locks: ';
const CORRECTNESS = 'Correctness of locks';

const speedTitle = ({ machine }) => SPEED + machine.processor;

/** File name of the chart below docs/images. */
export function chartFile({ machine }) {
  const name = machine.processor.replaceAll(/\(R\)|\(TM\)/g, '').replaceAll(/[^A-Za-z0-9.]+/g, '-');
  return `comparison-${name.toLowerCase()}.svg`;
}

function speedPart(results) {
  const { peers, speed } = results;
  const tables = Object.keys(TITLES)
    .filter((server) => peers.some((peer) => peer.server === server && speed[peer.id]))
    .map((server) => speedTable(server, peers, speed));
  return [
    `## ${speedTitle(results)}

The same work on our permits and on other locks, in one run on real servers on loopback.

${factsOf(results, 'speed')}

![Pairs of acquire and release per second](images/${chartFile(results)})

A flow takes a free lock and releases it, again and again. Each flow has a lock of its own. Each row is a process of its
own; all take turns in five rounds, and the figures are medians of the rounds. Percentiles are those of the acquisition
alone. "Beside ours" is the row's pairs per second divided by those of our first row on the same server: above 1.00 the
row is faster than ours. Raw operations are two compare-and-set calls of 250 bytes. They are the limit of what a lock with
a record can reach on that server, and no lock.

All servers, nodes and measured processes share the cores of one machine, so network time is missing and a slow client
slows its server. ShedLock runs in Java with threads, all others in Node.js.`,
    ...tables,
    `### Where ours is slower on this processor

${linesOr('Nowhere in this run.', ahead(results, fasterThan, speed))}

A lock without a record does less work: it has no token, no definition that operators change, and no trace of its holders.`,
  ].join('\n\n');
}

function speedTable(server, peers, speed) {
  const shown = peers.filter((peer) => peer.server === server && speed[peer.id]);
  const reference = oursOn(server, shown);
  const rows = shown.map((peer) => speedRow(peer, speed[peer.id], reference && speed[reference.id]));
  const head = ['lock', '1 flow, pairs/s', 'p50, p99', 'beside ours', '64 flows, pairs/s', 'p50, p99', 'beside ours'];
  const notes = shown.map(({ name, version, differs }) => `- ${name}${version && ` (${version})`}: ${differs}`);
  return `### Locks on ${TITLES[server]}\n\n${table(head, rows)}\n\n${notes.join('\n')}`;
}

function speedRow({ name, kind }, figures, reference) {
  const cells = FLOWS.flatMap((flows) => {
    if (!figures[flows]) return ['failed', '', ''];
    const { rate, p50, p99 } = figures[flows];
    const ratio = reference?.[flows] ? rate / reference[flows].rate : undefined;
    return [whole(rate), `${micros(p50)}, ${micros(p99)}`, ratio === undefined ? '' : besideOurs(ratio, kind)];
  });
  return [name, ...cells];
}

function casesPart(results) {
  const { peers, cases } = results;
  const shown = peers.filter(({ id }) => cases[id]);
  const summary = shown.map((peer) => [labelOf(peer), ...casesOf(cases).map(({ id }) => markOf(cases[peer.id][id]))]);
  return [
    `## ${CORRECTNESS}

One small experiment for each case and lock, with real servers, and nodes as processes. Each runs once: a "yes" is no proof.
[guarantees.md](guarantees.md) says how ours is tested.

${factsOf(results, 'cases')}

"yes" means that the lock did as wanted, "no" that it did not, "–" that the case does not apply or was not tried, and
"failed" that the experiment itself failed: the tables below say why.

${table(['lock', ...casesOf(cases).map(({ title }) => title)], summary)}`,
    ...casesOf(cases).map(({ id, title }) => {
      const rows = shown.map((peer) => [labelOf(peer), cases[peer.id][id].text]);
      return `### ${title[0].toUpperCase()}${title.slice(1)}\n\n${EXPERIMENTS[id]}\n\n${table(['lock', 'result'], rows)}`;
    }),
    `### Where ours is not as wanted

${linesOr('Nowhere in this run.', [...ahead(results, righterThan, cases), ...brokenIn(results)])}`,
  ].join('\n\n');
}

/** Those that ran. */
const casesOf = (cases) => CASES.filter(({ id }) => Object.values(cases).some((results) => results[id]));
const labelOf = ({ name, kind, server }) => (kind === 'ours' ? `${name} (${TITLES[server]})` : name);
const markOf = ({ holds }) => ({ true: 'yes', false: 'no', null: '–', failed: 'failed' })[holds];

/** All that peers did better than ours on their servers. */
function ahead({ peers }, better, figures) {
  return peers
    .filter(({ kind }) => kind === 'peer')
    .flatMap((peer) => {
      const ours = oursOn(peer.server, peers);
      return ours ? better(peer, ours, figures) : [];
    });
}

function brokenIn({ peers, cases }) {
  return peers
    .filter(({ id, kind }) => kind === 'ours' && cases[id])
    .flatMap((peer) =>
      casesOf(cases)
        .filter(({ id }) => cases[peer.id][id].holds === false)
        .map(({ title }) => `- ${labelOf(peer)}: not as wanted in "${title}"`),
    );
}

const linesOr = (otherwise, lines) => lines.join('\n') || otherwise;

function fasterThan(peer, ours, speed) {
  if (!speed[peer.id] || !speed[ours.id]) return [];
  const [theirs, mine] = [speed[peer.id], speed[ours.id]];
  const ratios = FLOWS.filter((flows) => theirs[flows] && mine[flows])
    .map((flows) => ({ flows, ratio: theirs[flows].rate / mine[flows].rate }))
    .filter(({ ratio }) => ratio > 1)
    .map(({ flows, ratio }) => `${ratio.toFixed(2)} times our pairs with ${flows} ${flows === 1 ? 'flow' : 'flows'}`);
  return ratios.length > 0 ? [`- ${peer.name} is faster: ${ratios.join(', ')}`] : [];
}

function righterThan(peer, ours, cases) {
  if (!cases[peer.id] || !cases[ours.id]) return [];
  return casesOf(cases)
    .filter(({ id }) => cases[peer.id][id].holds === true && cases[ours.id][id].holds === false)
    .map(({ title }) => `- ${peer.name} is more correct in "${title}"`);
}
