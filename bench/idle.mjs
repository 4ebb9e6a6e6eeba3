import { fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { FULLY_COMPILED, round } from './measure.mjs';

/** Seconds that the nodes are watched, and that they are left alone before. */
const [WATCHED, SETTLING] = [60, 30];
/** The sweep's interval is 10 s, so each figure has several of them. */
const TARGETS = { cpu: 1, stall: 20 };

/** The cost of idle nodes: beside names that were used once, and beside very many definitions and nodes. */
export async function idle() {
  return [
    ...(await scene('after 100,000 names on demand, 2 nodes', { processes: 1, nodes: 2, names: 100_000 })),
    ...(await scene('10,000 definitions, 100 nodes', { processes: 5, nodes: 20, definitions: 10_000 })),
  ];
}

async function scene(title, { processes, nodes, definitions = 1, names = 0 }) {
  const member = await startHazelcast({ heap: '1g', jvmArgs: FULLY_COMPILED });
  const children = Array.from({ length: processes }, () =>
    fork(new URL('idle-nodes.mjs', import.meta.url), { execArgv: ['--expose-gc', '--max-old-space-size=4096'] }),
  );
  try {
    for (const [index, child] of children.entries()) {
      await ask(child, {
        open: {
          cluster: { clusterName: member.clusterName, addresses: member.addresses },
          nodes,
          definitions,
          prefix: `p${index}`,
        },
      });
    }
    if (names > 0) await ask(children[0], { use: { names } });
    await pause(SETTLING * 1000);
    const all = (request) => Promise.all(children.map((child) => ask(child, request)));
    const found = await all({ idle: { seconds: WATCHED } });
    const control = monitorEventLoopDelay({ resolution: 1 });
    control.enable();
    const stalls = await all({ stall: { seconds: WATCHED } });
    control.disable();
    await Promise.all(children.map((child) => ask(child, { close: {} })));
    return rowsOf(title, found, stalls, control.max / 1e6);
  } finally {
    children.forEach((child) => child.kill());
    await member.stop();
  }
}

async function ask(child, request) {
  child.send(request);
  const [answer] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`a process with idle nodes ended with exit code ${code}`);
    }),
  ]);
  return answer;
}

/** @param control ms that this process, which has nothing to do, was kept waiting at most meanwhile */
function rowsOf(title, found, stalls, control) {
  const mean = (field) => found.reduce((sum, each) => sum + each[field], 0) / found.length;
  const longest = Math.max(...stalls.map(({ stall }) => stall));
  return [
    row(`processor time of an idle node: ${title}`, mean('cpu'), '% of a core', TARGETS.cpu),
    { ...row(`longest stall: ${title}`, longest, 'ms', TARGETS.stall), reference: round(control) },
    row(`heap per node: ${title}`, mean('heap'), 'MB'),
    row(`store calls per node: ${title}`, mean('calls'), 'a minute'),
    row(`sent and received per node: ${title}`, mean('bytes'), 'MB a minute'),
  ];
}

function row(name, ours, unit, target = null) {
  return { name, ours: round(ours), reference: null, ratio: null, unit, target, met: target && ours <= target };
}
