import type { GatekeeperState } from 'nestjs-gatekeeper';

/** The part of a node's answer to `/delivery` that is shown. */
export interface Division {
  readonly isLeader: boolean;
  readonly owned: readonly { readonly queue: string }[];
}

/** A node as the user sees it. */
export interface SampleNode {
  readonly name: string;
  readonly port: number;
  readonly pid: number | undefined;
  readonly isUp: boolean;
  /** @throws Error if it does not answer */
  division(): Promise<Division>;
  /** The holders on all nodes. @throws Error if it does not answer */
  state(): Promise<GatekeeperState>;
}

/** The sample as the user sees it. */
export interface SampleTexts {
  readonly nodes: readonly SampleNode[];
  readonly store: { readonly name: string; readonly lines: readonly string[] };
  readonly archiveUrl: string;
}

/** What the user reads when the nodes run; it fits into 80 columns and 24 lines. */
export function introduction({ nodes, store, archiveUrl }: SampleTexts, isTerminal = process.stdin.isTTY): string {
  const places = nodes.map(({ name, port, pid }) => `  ${name}  http://127.0.0.1:${port}/gatekeeper/  pid ${pid}`);
  const keys = nodes.map((_, place) => place + 1).join(', ');
  return `
Three processes of one application share their permits through
${store.name}. Sign in with sample-operator-token:
${[...places, `  archive   ${archiveUrl}`, ...store.lines.map((line) => `  ${line}`)].join('\n')}

Watch the port that begins each line:
  [nightly-export]  a job: one node runs it
  [mailing]         a job with two permits: two nodes share the customers
  [report]          a job that takes longer than its permit lasts
  [poller]          only the leader polls for messages
  [delivery]        twelve queues, divided over the nodes
  [digest]          a schedule; its tasks run on all nodes

Kill one for real, in another terminal: kill -9 PID
${isTerminal ? 'Or press a key' : 'Keys, read from standard input'}:
  ${keys}   kill -9 that node; again: start it again
  w         who leads, who holds which permits, who owns which queues
  t         start 100 tasks, which all nodes share; try 1, 2 or 3 meanwhile
  v         more lines: each delivered message, each page of the report
  h         show this again
  q         end (or Ctrl-C)
A real store:  npm run sample -- --store hazelcast|postgres|redis

`;
}

/** One line about a node that has ended. @param how the signal or exit code @param place which of the nodes it was */
export function endOf({ name, pid }: SampleNode, how: string, place: number): string {
  return `\n${name} (pid ${pid}) has ended: ${how}. Others take its work within 10 s. ${place + 1} starts it again.\n\n`;
}

/** Lines for each node: who leads, who holds which permits, who owns which queues. */
export async function whoDoesWhat({ nodes }: Pick<SampleTexts, 'nodes'>): Promise<string> {
  const blocks = await Promise.all(nodes.map((node) => workOf(node).catch((error: Error) => [error.message])));
  const lines = nodes.flatMap(({ name }, place) =>
    blocks[place]!.map((text, index) => `  ${index === 0 ? name : ' '.repeat(name.length)}  ${text}`),
  );
  return `\n${lines.join('\n')}\n\n`;
}

async function workOf(node: SampleNode): Promise<string[]> {
  if (!node.isUp) return ['down'];
  const [{ semaphores }, { isLeader, owned }] = await Promise.all([node.state(), node.division()]);
  const held = semaphores
    .filter(({ name, holders }) => !isLeadership(name) && holders.some(({ acquirer }) => acquirer === node.name))
    .map(({ name }) => name);
  const queues = owned.map(({ queue }) => queue);
  return [
    `${isLeader ? 'leads, ' : ''}holds ${held.join(', ') || 'no permit'}`,
    `owns ${queues.join(', ') || 'no queue'}`,
  ];
}

/** A leader is the holder of a permit, too. */
function isLeadership(semaphore: string): boolean {
  return semaphore.startsWith('leader:');
}
