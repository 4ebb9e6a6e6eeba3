import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { type Owner, TemporaryServer, findProgram, freePort } from './temporary-server.js';

/** Debian puts the programs into a folder for each version, outside of the PATH. */
const VERSIONS = '/usr/lib/postgresql';
const USER = 'sample';

const OR_NAME = 'or name a server that runs: DATABASE_URL=postgres://user:password@localhost:5432/database';
const MISSING =
  'PostgreSQL is missing (no initdb in PATH or POSTGRES_PROGRAMS): install it ' +
  `("apt-get install postgresql"), ${OR_NAME}`;
const ROOT = `PostgreSQL does not run as root, and there is no user "postgres" here: use another account, ${OR_NAME}`;

/** Starts a PostgreSQL on loopback, with a password of its own. @throws with advice, if it is not installed */
export async function startPostgres() {
  const programs = findPrograms();
  const owner = await findOwner();
  const [port, password] = [await freePort(), randomBytes(12).toString('hex')];
  const server = await TemporaryServer.start(owner, async (folder) => {
    const data = await initialize(programs, folder, { owner, password });
    const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '' };
    const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return {
      file: join(programs, 'postgres'),
      args: ['-D', data, ...set],
      owner,
      readyLine: 'database system is ready to accept connections',
      stopSignal: 'SIGINT',
    };
  });
  return { server, url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres` };
}

interface Access {
  readonly owner: Owner;
  readonly password: string;
}

async function initialize(programs: string, folder: string, { owner, password }: Access): Promise<string> {
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')];
  // The folder itself is closed to other users.
  await writeFile(passwordFile, password);
  await chmod(passwordFile, 0o644);
  const access = ['-U', USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const args = ['-D', data, ...access, '--no-sync', '-E', 'UTF8', '--no-locale'];
  const { failed, all } = await execa(join(programs, 'initdb'), args, {
    ...owner,
    cwd: folder,
    all: true,
    reject: false,
  });
  if (failed) throw new Error(`initdb failed:\n${all}`);
  return data;
}

function findPrograms(): string {
  const named = process.env['POSTGRES_PROGRAMS'];
  const initdb = findProgram(['initdb'], named === undefined ? versions() : [named]);
  if (initdb === undefined) throw new Error(MISSING);
  return dirname(initdb);
}

/** The newest first. */
function versions(): string[] {
  const found = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number).filter(Boolean) : [];
  return found.toSorted((one, other) => other - one).map((version) => join(VERSIONS, String(version), 'bin'));
}

/** PostgreSQL refuses to run as root. Its packages bring a user along. */
async function findOwner(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map((which) => execa('id', [which, 'postgres'], { reject: false })),
  );
  if (uid!.failed || gid!.failed) throw new Error(ROOT);
  return { uid: Number(uid!.stdout), gid: Number(gid!.stdout) };
}
