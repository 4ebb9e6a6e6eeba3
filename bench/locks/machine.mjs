import { cpus, loadavg, release, totalmem } from 'node:os';
import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { postgresPrograms } from '../peers/servers.mjs';

/** The machine, and its load average of the last minute before the run. */
export function machine() {
  const [{ model }] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return {
    machine: { processor: model.trim().replaceAll(/\s+/g, ' '), cores: cpus().length, memory, kernel: release() },
    load: loadavg()[0],
  };
}

/** Of the servers that the peers need. */
export async function versions(peers) {
  const needs = (server) => peers.some((peer) => peer.server === server);
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const found = { 'nestjs-gatekeeper': version, 'Node.js': process.version.slice(1) };
  if (needs('redis')) found.Redis = (await execa`redis-server --version`).stdout.match(/v=([\d.]+)/)[1];
  if (needs('postgres'))
    found.PostgreSQL = (await execa(`${postgresPrograms()}/postgres`, ['--version'])).stdout.match(/[\d.]+/)[0];
  if (needs('hazelcast')) found.Hazelcast = pinnedMember();
  if (needs('hazelcast') || peers.some(({ provider }) => provider))
    found.Java = (await execa`java -version`).stderr.match(/"(.*?)"/)[1];
  return found;
}

function pinnedMember() {
  const pom = readFileSync(new URL('../../tools/hazelcast/pom.xml', import.meta.url), 'utf8');
  return pom.match(/<hazelcast.version>(.*?)</)[1];
}
