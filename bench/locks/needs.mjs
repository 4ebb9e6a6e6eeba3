import { existsSync } from 'node:fs';
import { HazelcastLauncherError, fetchHazelcast } from 'nestjs-gatekeeper/testing';
import { execa } from 'execa';
import { installPeers } from '../peers/install.mjs';

const isThere = async (program) => (await execa({ reject: false })`which ${program}`).exitCode === 0;
const lackOf = async (program, name) =>
  (await isThere(program)) ? undefined : `${program} is missing: "apt-get install ${name}"`;

/** Why a server can't be started; undefined: it can. */
const SERVERS = {
  memory: async () => undefined,
  redis: () => lackOf('redis-server', 'redis-server'),
  postgres: async () =>
    existsSync('/usr/lib/postgresql') ? undefined : 'PostgreSQL is missing: "apt-get install postgresql"',
  async hazelcast() {
    const lack = await lackOf('java', 'openjdk-17-jre-headless');
    if (lack !== undefined) return lack;
    try {
      await fetchHazelcast();
      return undefined;
    } catch (error) {
      if (error instanceof HazelcastLauncherError) return error.message;
      throw error;
    }
  },
};

/** @returns one line, if Java programs can't be built */
export const lackOfJava = async () =>
  (await lackOf('javac', 'openjdk-17-jdk-headless')) ?? (await lackOf('mvn', 'maven'));

/** @returns one line, if clocks of processes can't be set wrong */
export const lackOfFaketime = () => lackOf('faketime', 'faketime');

/** @returns the peers whose tools are installed, and a line for each of the others */
export async function available(peers) {
  const lacks = new Map();
  for (const server of new Set(peers.map((peer) => peer.server))) lacks.set(server, await SERVERS[server]());
  const java = peers.some(({ provider }) => provider) ? await lackOfJava() : undefined;
  const lackAt = (peer) => lacks.get(peer.server) ?? (peer.provider ? java : undefined);
  const found = peers.filter((peer) => lackAt(peer) === undefined);
  if (found.some(({ installs }) => installs)) await installPeers();
  const missing = peers
    .filter((peer) => lackAt(peer) !== undefined)
    .map((peer) => `left out ${peer.id}: ${lackAt(peer)}`);
  return { found, missing };
}
