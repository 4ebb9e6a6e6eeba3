import { TITLES, besideOurs, factsOf, micros, oursOn, table, whole } from '../locks/table.mjs';
import { FLOWS, WORKERS } from './speed.mjs';

const RATES = {
  submit: 'submit/s',
  ...Object.fromEntries(
    WORKERS.map((count) => [`complete-${count}`, `complete/s, ${count} ${count === 1 ? 'worker' : 'workers'}`]),
  ),
};
const TIMES = { p50: 'idle p50', p99: 'idle p99' };

/**
 * The part of the page about tasks, from the results of a run as `../locks/run.mjs` collects them: `queues` and `tasks`.
 *
 * @returns Markdown, not yet formatted
 */
export function tasksPart(results) {
  const { queues, tasks } = results;
  const measured = queues.filter(({ id }) => tasks[id]);
  const servers = Object.keys(TITLES).filter((server) => measured.some((each) => each.server === server));
  return `## Tasks

The same tasks through our queue and through those that teams with Node.js use, in one run on real servers on loopback.

${factsOf(results, 'tasks')}

A task has 100 bytes of data, and its handler does nothing: so the rows show the cost of the queue. Each system is a process
of its own with its usual API; all take turns with each measurement, and the figures are medians of the rounds. "submit" is
${FLOWS} submissions at the same time, one task each. "complete" begins when the workers run. "idle" is the time from the
submission of a task to its start by a worker that has nothing else to do. pg-boss fetches and completes in loops, which it
offers, too: its workers look at most twice a second. The number behind a rate is this rate divided by ours on the
same server; above 1.00 it is bold: the peer is faster. A time of a peer is bold if it is shorter than ours.

${servers.map((server) => section(server, measured, tasks)).join('\n\n')}

### When the server dies

What is left of the tasks that the server has confirmed, with the settings of this run:

${table(
  ['tasks', 'versions', 'left'],
  measured.map(({ name, version, promise }) => [name, version, promise]),
)}

### Where our tasks are behind

${behind(measured, tasks).join('\n') || 'Nowhere in this run.'}

Ours does more for a task: it keeps it under an id until its retention is over, with its outcome, its lease and a fencing token.
`;
}

/** On Hazelcast ours has no peer, so all others stand beside it. */
function section(server, measured, tasks) {
  const there = measured.filter((each) => each.server === server);
  const isAlone = there.every(({ kind }) => kind === 'ours');
  const shown = isAlone ? [...there, ...measured.filter((each) => each.server !== server)] : there;
  const reference = tasks[oursOn(server, measured)?.id];
  const head = ['', ...Object.values(RATES), ...Object.values(TIMES)];
  const rows = shown.map(({ id, name, kind }) => [name, ...cells(tasks[id], reference, kind)]);
  return `### Tasks on ${TITLES[server]}${isAlone ? ', beside all others' : ''}\n\n${table(head, rows)}`;
}

function cells(figures, reference = {}, kind) {
  return [
    ...Object.keys(RATES).map((name) => {
      if (figures[name] === undefined) return 'failed';
      const isAlone = reference[name] === undefined || figures === reference;
      return `${whole(figures[name])}${isAlone ? '' : ` (${besideOurs(figures[name] / reference[name], kind)})`}`;
    }),
    ...Object.keys(TIMES).map((name) => {
      if (figures[name] === undefined) return 'failed';
      const isShorter = kind === 'peer' && figures[name] < reference[name];
      return isShorter ? `**${micros(figures[name])}**` : micros(figures[name]);
    }),
  ];
}

function behind(measured, tasks) {
  return measured
    .filter(({ kind }) => kind === 'peer')
    .flatMap((peer) => {
      const [theirs, mine] = [tasks[peer.id], tasks[oursOn(peer.server, measured)?.id] ?? {}];
      const rates = Object.entries(RATES)
        .filter(([name]) => theirs[name] > mine[name])
        .map(([name, title]) => `${(theirs[name] / mine[name]).toFixed(2)} times our ${title}`);
      const times = Object.entries(TIMES)
        .filter(([name]) => theirs[name] < mine[name])
        .map(([name, title]) => `${title} ${micros(theirs[name])} instead of ${micros(mine[name])}`);
      return rates.length + times.length > 0 ? [`- ${peer.name} is faster: ${[...rates, ...times].join('; ')}`] : [];
    });
}
