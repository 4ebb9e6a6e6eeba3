import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { execa } from 'execa';
import { GatekeeperModule, GatekeeperService, hazelcast } from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { FULLY_COMPILED, round } from './measure.mjs';

const DEFINITIONS = 10_000;
/** The longest that operators may wait for all jobs to move, in ms. */
const TARGET = 10_000;
const TOKEN = 'token-of-the-bench-0123456789';
const MAIN = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

/** Time that the command line takes to move every job of a site to another, its own start included, each way. */
export async function migration() {
  // A cluster of its own: the definitions of the other benches would be moved too.
  const cluster = await startHazelcast({ jvmArgs: FULLY_COMPILED });
  try {
    return await migrations(cluster);
  } finally {
    await cluster.stop();
  }
}

async function migrations(cluster) {
  const app = await startApp(cluster);
  try {
    const { port } = app.getHttpServer().address();
    const straight = ['--store', `hazelcast://${cluster.addresses.join(',')}/${cluster.clusterName}`];
    const overHttp = ['--url', `http://127.0.0.1:${port}/gatekeeper`];
    return [
      ...(await migrated('straight to Hazelcast', straight, ['here', 'there'])),
      ...(await migrated('over HTTP', overHttp, ['there', 'here'])),
      await overviewRead(app.get(GatekeeperService)),
    ];
  } finally {
    await app.close();
  }
}

async function migrated(way, target, [from, to]) {
  const command = [...target, 'migrate', '--from-group', from, '--to-group', to, '--json'];
  const plan = await timed(() => gatekeeper(command));
  const made = await timed(() => gatekeeper([...command, '--yes']));
  if (made.result.migrated.length !== DEFINITIONS) throw new Error(`${made.result.migrated.length} were migrated`);
  return [row(`migration planned ${way}`, plan.took, null), row(`migration made ${way}`, made.took, TARGET)];
}

async function overviewRead(gatekeeper) {
  const { took } = await timed(() => gatekeeper.overview());
  return row('overview read', took, null);
}

async function startApp({ clusterName, addresses: members }) {
  const definitions = Array.from({ length: DEFINITIONS }, (_, index) => ({
    name: `job-${index}`,
    groupPattern: 'here',
    duration: '10m',
  }));
  class AppModule {}
  const store = hazelcast({ clusterName, members });
  const console = { tokens: [{ token: TOKEN, name: 'bench', role: 'define' }] };
  const gatekeeper = GatekeeperModule.forRoot({ store, group: 'here', definitions, definitionsDelay: 0, console });
  Module({ imports: [gatekeeper] })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  while ((await app.get(GatekeeperService).state()).semaphores.length < DEFINITIONS) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return app;
}

async function gatekeeper(args) {
  const env = { GATEKEEPER_TOKEN: TOKEN, NODE_OPTIONS: '' };
  const { stdout } = await execa(process.execPath, [MAIN, ...args], { env, maxBuffer: 2 ** 30 });
  return JSON.parse(stdout);
}

async function timed(work) {
  const started = performance.now();
  const result = await work();
  return { result, took: performance.now() - started };
}

function row(what, took, target) {
  const name = `${what}, ${DEFINITIONS} definitions`;
  return { name, ours: round(took), reference: null, ratio: null, unit: 'ms', target, met: target && took <= target };
}
