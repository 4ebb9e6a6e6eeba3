import type { EmbeddedSample } from './embedded-sample.js';

/** What the user reads when the nodes run; it fits into 80 columns and 24 lines. */
export function introduction({ nodes }: EmbeddedSample, isTerminal = process.stdin.isTTY): string {
  const places = nodes.map(({ name, port }, place) => `  ${place + 1}  ${name}  http://127.0.0.1:${port}/gatekeeper/`);
  const keys = nodes.map((_, place) => place + 1).join(', ');
  return `
Three nodes of one application share one store, in the memory of this process.
The console of each; sign in with sample-operator-token:
${places.join('\n')}

Watch the port that begins each line:
  [nightly-export]  a job: one node runs it
  [mailing]         a job with two permits: two nodes share the customers
  [report]          a job that takes longer than its permit lasts
  [poller]          only the leader polls for messages
  [delivery]        twelve queues, divided over the nodes
  [digest]          a schedule; its tasks run on all nodes

${isTerminal ? 'Press a key' : 'Keys, read from standard input'}:
  ${keys}   take that node down as kill -9 does; again: start it again
  w         who leads, who holds which permits, who owns which queues
  t         start 100 tasks, which all nodes share; try 1, 2 or 3 meanwhile
  v         more lines: each delivered message, each page of the report
  h         show this again
  q         end (or Ctrl-C)

A real store:  npm run sample -- --store hazelcast|postgres|redis

`;
}

/** A line for each node: who leads, who holds which permits, who owns which queues. */
export async function whoDoesWhat({ nodes, living }: EmbeddedSample): Promise<string> {
  const { semaphores } = (await living[0]?.state()) ?? { semaphores: [] };
  const lines = nodes.map((node) => {
    if (!node.isUp) return `  ${node.name}  down`;
    const held = semaphores
      .filter(({ name, holders }) => !isLeadership(name) && holders.some(({ acquirer }) => acquirer === node.name))
      .map(({ name }) => name);
    const permits = `${node.isLeader ? 'leads, ' : ''}holds ${held.join(', ') || 'no permit'}`;
    return `  ${node.name}  ${permits}\n  ${' '.repeat(node.name.length)}  owns ${node.queues.join(', ') || 'no queue'}`;
  });
  return `\n${lines.join('\n')}\n\n`;
}

/** A leader is the holder of a permit, too. */
function isLeadership(semaphore: string): boolean {
  return semaphore.startsWith('leader:');
}
