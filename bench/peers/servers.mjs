import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** Connections of one system of tasks to PostgreSQL: as many as it serves well on a small machine. */
export const CONNECTIONS = 20;
/** ms for which a server may start. */
const PATIENCE = 30_000;
/** Debian puts PostgreSQL's programs outside of the PATH. */
const VERSIONS = '/usr/lib/postgresql';

/** A Redis of its own on loopback, with the append-only file that BullMQ advises. @throws if it can't be started */
export async function startRedis() {
  const folder = await mkdtemp(join(tmpdir(), 'bench-redis-'));
  const port = await freePort();
  const set = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes'];
  const server = await start('redis-server', set.map(String), 'Ready to accept connections');
  return { port, stop: () => end(server, folder), kill: () => end(server, folder, 'SIGKILL') };
}

/** A PostgreSQL of its own on loopback, with its usual settings. @throws if it can't be started */
export async function startPostgres() {
  const folder = (await asUser('mktemp', '-d', join(tmpdir(), 'bench-postgres-XXXXXX'))).stdout;
  const port = await freePort();
  const programs = postgresPrograms();
  await asUser(
    join(programs, 'initdb'),
    '-D',
    join(folder, 'data'),
    '-U',
    'bench',
    '-E',
    'UTF8',
    '--auth=trust',
    '--no-sync',
  );
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', `port=${port}`, '-c', 'unix_socket_directories='];
  const [command, ...args] = [...USER, join(programs, 'postgres'), '-D', join(folder, 'data'), ...settings];
  const server = await start(command, args, 'ready to accept connections');
  return { url: `postgres://bench@127.0.0.1:${port}/postgres`, stop: () => end(server, folder) };
}

/** PostgreSQL refuses to run as root; its package brings a user along. */
const USER = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];

function asUser(...words) {
  const [command, ...args] = [...USER, ...words];
  return execa(command, args, { cwd: '/' });
}

export function postgresPrograms() {
  const [newest] = existsSync(VERSIONS) ? readdirSync(VERSIONS).toSorted((a, b) => Number(b) - Number(a)) : [];
  if (newest === undefined) throw new Error(`there is no PostgreSQL in ${VERSIONS}: "apt-get install postgresql"`);
  return join(VERSIONS, newest, 'bin');
}

/** Resolves when the server has said `ready`. */
function start(command, args, ready) {
  const server = spawn(command, args, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => server.kill('SIGTERM');
  process.once('exit', kill);
  server.once('exit', () => process.off('exit', kill));
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`${command} did not start in time: ${said}`)), PATIENCE);
    const listen = (data) => {
      if (said.length < 10_000) said += data;
      if (said.includes(ready)) {
        clearTimeout(timer);
        resolve(server);
      }
    };
    server.stdout.on('data', listen);
    server.stderr.on('data', listen);
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`${command} ended with ${code}: ${said}`)));
  });
}

async function end(server, folder, signal = 'SIGTERM') {
  if (server.exitCode === null && server.signalCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
