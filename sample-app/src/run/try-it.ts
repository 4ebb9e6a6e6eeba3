import type { AppProcess } from './app-process.js';
import type { SharedStore } from './shared-store.js';

/** Hints for the user, once three nodes run. */
export function tryIt(apps: readonly AppProcess[], store: SharedStore, archiveUrl: string): string {
  const [first, second] = apps as [AppProcess, AppProcess?];
  const other = second ?? first;
  return `
Three nodes of one application share their permits through ${store.name}:

${apps.map(({ port, pid }) => `  app      http://127.0.0.1:${port}   pid ${pid}`).join('\n')}
  archive  ${archiveUrl}   has the documents and the queues, and refuses stale tokens
${store.lines.map((line) => `  ${line}`).join('\n')}

Try it, in another terminal:

  kill -9 PID       of the app that says "nightly-export": within 9 s another one exports
  kill -9 PID       of the app that says "poller": within 6 s another one polls, and the others get its queues
  kill -STOP PID    of the app that says "report": another one starts the report anew
  kill -CONT PID    of the same: it wakes up, finds its permit lost and stops before it writes

  http://127.0.0.1:${first.port}/gatekeeper/                 the console, in a browser; the token is sample-operator-token
  curl http://127.0.0.1:${first.port}                        who holds what
  curl http://127.0.0.1:${first.port}/delivery               which node delivers from which queues
  curl -X POST http://127.0.0.1:${first.port}/imports/acme   takes five seconds; meanwhile:
  curl -X POST http://127.0.0.1:${other.port}/imports/acme   409, and who holds the permit

  curl -X POST http://127.0.0.1:${first.port}/reconciliations/june   100 sub-tasks on all nodes; kill -9 one meanwhile, then:
  curl ${archiveUrl}/ledger/record-sets            100 lines, each once, and who wrote them

Ctrl-C ends everything.
`;
}
