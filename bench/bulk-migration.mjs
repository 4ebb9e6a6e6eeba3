/**
 * How long the command line takes to migrate many definitions, over HTTP and straight to one real member, and that a
 * second call goes on where the first one was killed. `node bench/bulk-migration.mjs [definitions]`, after a build.
 */
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { execa } from 'execa';
import { GatekeeperModule, GatekeeperService, hazelcast } from 'nestjs-gatekeeper';
import { startHazelcast } from 'nestjs-gatekeeper/testing';

const COUNT = Number(process.argv[2] ?? 10_000);
const TOKEN = 'token-of-the-bench-0123456789';
const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

const cluster = await startHazelcast();
const app = await startApp();
try {
  const gatekeeper = app.get(GatekeeperService);
  await define(gatekeeper);
  const { port } = app.getHttpServer().address();
  const ways = {
    straight: ['--hazelcast', cluster.addresses.join(','), '--cluster', cluster.clusterName],
    'over HTTP': ['--url', `http://127.0.0.1:${port}/gatekeeper`],
  };
  console.log(`node ${process.version}, ${cpus().length} cores, ${COUNT} definitions, one member on loopback`);
  let groups = ['here', 'there'];
  for (const [way, target] of Object.entries(ways)) {
    console.table([{ way, ...(await measure(target, groups)) }]);
    groups = groups.toReversed();
    console.log(`${way}, killed in the middle: ${await killed(target, groups)}`);
    groups = groups.toReversed();
  }
} finally {
  await app.close();
  await cluster.stop();
}

async function startApp() {
  class AppModule {}
  const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
  const console = { tokens: [{ token: TOKEN, name: 'bench', role: 'define' }] };
  Module({ imports: [GatekeeperModule.forRoot({ store, group: 'here', console })] })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function define(gatekeeper) {
  while (!(await gatekeeper.state()).store.connected) await pause(50);
  const { definitions } = gatekeeper;
  const names = Array.from({ length: COUNT }, (_, index) => `job-${String(index).padStart(6, '0')}`).values();
  const flow = async () => {
    for (const name of names) await definitions.define({ name, groupPattern: 'here', duration: '10m' });
  };
  await Promise.all(Array.from({ length: 64 }, flow));
}

/** Seconds of the whole process, its start among them. */
async function measure(target, [from, to]) {
  const args = ['migrate', '--from-group', from, '--to-group', to, '--json'];
  const plan = await timed(() => gatekeeper([...target, ...args]));
  const migration = await timed(() => gatekeeper([...target, ...args, '--yes']));
  const again = await timed(() => gatekeeper([...target, ...args, '--yes']));
  assert(plan.answer.steps.length === COUNT, 'the plan is whole');
  assert(migration.answer.migrated.length === COUNT, 'all are migrated');
  assert(again.answer.migrated.length === 0, 'nothing is left');
  return { 'dry run': plan.seconds, migration: migration.seconds, 'nothing left to do': again.seconds };
}

async function killed(target, [from, to]) {
  const args = [...target, 'migrate', '--from-group', from, '--to-group', to, '--json', '--yes', '--portion', '500'];
  const first = gatekeeperProcess([...args, '--progress']);
  first.stderr.once('data', () => first.kill('SIGKILL'));
  const { signal } = await first;
  assert(signal === 'SIGKILL', 'it was killed');
  const { answer } = await timed(() => gatekeeper(args));
  const left = answer.migrated.length;
  assert(left > 0 && left < COUNT && answer.failed.length === 0, 'the second call did the rest');
  assert((await gatekeeper(args)).migrated.length === 0, 'nothing is left');
  return `${COUNT - left} by the first call, ${left} by the second`;
}

async function timed(call) {
  const started = performance.now();
  const answer = await call();
  return { answer, seconds: Number(((performance.now() - started) / 1000).toPrecision(3)) };
}

async function gatekeeper(args) {
  const { stdout, stderr, exitCode } = await gatekeeperProcess(args);
  assert(exitCode === 0, stderr);
  return JSON.parse(stdout);
}

function gatekeeperProcess(args) {
  const env = { GATEKEEPER_TOKEN: TOKEN, NODE_OPTIONS: '' };
  return execa(process.execPath, [MAIN, ...args], { env, reject: false, maxBuffer: 2 ** 30 });
}

function assert(condition, what) {
  if (!condition) throw new Error(`not so: ${what}`);
}
