import { existsSync, readdirSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { freePort } from '../../lib/testing/hazelcast/free-port.js';
import { eventually } from '../../lib/testing/contract/eventually.js';
import { MemberProcess } from '../../lib/testing/hazelcast/member-process.js';
import { PID_MARK } from '../../lib/testing/hazelcast/supervisor.js';
import type { PgConnection, PgPool } from '../../lib/stores/postgres/pg.js';

/** Debian puts them outside of the PATH, in a folder for each version. */
const VERSIONS = '/usr/lib/postgresql';
const PROGRAMS = process.env['POSTGRES_PROGRAMS'] ?? newest();

const HOW = `"apt-get install postgresql", or name the folder of initdb and postgres in the environment variable POSTGRES_PROGRAMS`;
const isThere = existsSync(join(PROGRAMS, 'initdb'));

export const lackOfPostgres = isThere ? undefined : `there is no PostgreSQL in ${PROGRAMS}: ${HOW}`;

/** The server refuses to run as root; its package brings a user along. */
export const AS_USER = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];

const HOST = '127.0.0.1';
const IS_READY = /database system is ready to accept (read.only )?connections/;
const PORT_IS_TAKEN = /could not bind .*Address already in use/;
const MOST_PORTS = 5;

/** In a variable: it comes without types, of which this is what tests use. */
const PG: string = 'pg';

export interface Pool extends PgPool {
  // A row of whatever was asked for.
  query(text: string, values?: unknown[]): Promise<{ readonly rows: any[] }>;
  connect(): Promise<PgConnection & Pick<Pool, 'query'>>;
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

/** A server of its own in a temporary folder, on loopback. It can't outlive this process. */
export class PostgresServer implements AsyncDisposable {
  static readonly user = 'ops';
  /** Not a word that stands in a message by chance. */
  static readonly password = 'pw-never-shown';
  #process?: MemberProcess;
  #pid?: number;

  #port = 0;

  private constructor(private readonly folder: string) {}

  static async start(): Promise<PostgresServer> {
    return PostgresServer.#startedWith(async (server) => {
      const { folder } = server;
      const passwordFile = join(folder, 'password');
      await writeFile(passwordFile, PostgresServer.password);
      const access = ['-U', PostgresServer.user, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
      await asUser(join(PROGRAMS, 'initdb'), '-D', server.#data, ...access, '--no-sync', '-E', 'UTF8', '--no-locale');
    });
  }

  /** A server with the data of one that is stopped: ready in a fraction of the time that {@link start} takes. */
  static copyOf(stopped: PostgresServer): Promise<PostgresServer> {
    return PostgresServer.#startedWith((copy) => asUser('cp', '-r', stopped.#data, copy.#data));
  }

  /**
   * A standby of `primary`, which is a copy of `stopped` like this one. Replicates writes asynchronously until {@link lag}.
   * pg_basebackup would copy the running server, but not every package brings it along.
   */
  static replicaOf(primary: PostgresServer, stopped: PostgresServer): Promise<PostgresServer> {
    return PostgresServer.#startedWith(async (replica) => {
      await asUser('cp', '-r', stopped.#data, replica.#data);
      await asUser('touch', join(replica.#data, 'standby.signal'));
      const settings = `primary_conninfo = '${primary.address()}'\nwal_retrieve_retry_interval = 100\n`;
      await appendFile(join(replica.#data, 'postgresql.auto.conf'), settings);
    });
  }

  static async #startedWith(prepare: (server: PostgresServer) => Promise<unknown>): Promise<PostgresServer> {
    const folder = await asUser('mktemp', '-d', join(tmpdir(), 'gatekeeper-postgres-XXXXXX'));
    const server = new PostgresServer(folder);
    try {
      await prepare(server);
      await server.#startOnFreePort();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  get port(): number {
    return this.#port;
  }

  /** Connections of the test itself, which closes them with `end()`. */
  async pool(config: object = {}): Promise<Pool> {
    const { Pool } = ((await import(PG)) as { default: { Pool: new (config: object) => Pool } }).default;
    const pool = new Pool({ connectionString: this.address(), ...config });
    // Some tests stop the server while connections are idle.
    pool.on('error', () => undefined);
    return pool;
  }

  address({ user = PostgresServer.user, password = PostgresServer.password, host = HOST, database = 'postgres' } = {}) {
    return `postgres://${user}:${password}@${host}:${this.port}/${database}`;
  }

  /** On the data that are there; its port stays the same. Resolves when it takes connections. */
  async restart(): Promise<void> {
    await this.stop();
    const settings = { listen_addresses: HOST, port: this.port, unix_socket_directories: '', fsync: 'off' };
    const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const said: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const listen = (line: string) => {
        said.push(line);
        if (line.startsWith(PID_MARK)) this.#pid = Number(line.slice(PID_MARK.length));
        if (IS_READY.test(line)) resolve();
      };
      this.#process = new MemberProcess(AS_USER, [join(PROGRAMS, 'postgres'), '-D', this.#data, ...set], listen);
      void this.#process.gone.then(() => reject(new Error(`PostgreSQL ended:\n${said.join('\n')}`)));
    });
  }

  /** Another process may take the port between the look and the start. */
  async #startOnFreePort(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort(HOST, new Set());
      try {
        return await this.restart();
      } catch (error) {
        if (attempt === MOST_PORTS || !PORT_IS_TAKEN.test((error as Error).message)) throw error;
      }
    }
  }

  /** Makes a standby get no more writes. Resolves when it has those that are there now. */
  async lag(primary: PostgresServer): Promise<void> {
    const written = await primary.#answer('SELECT pg_current_wal_flush_lsn()::text AS answer');
    await eventually('the replica has the writes', () =>
      this.#answer(`SELECT pg_last_wal_replay_lsn() >= '${written}' AS answer`),
    );
    await this.#answer(`ALTER SYSTEM SET primary_conninfo = ''`);
    await this.#answer('SELECT pg_reload_conf() AS answer');
    await eventually('the replica gets no more writes', () =>
      this.#answer('SELECT count(*) = 0 AS answer FROM pg_stat_wal_receiver'),
    );
  }

  /** Makes a standby the primary. Resolves when it takes writes. */
  async promote(): Promise<void> {
    await this.#answer('SELECT pg_promote() AS answer');
  }

  async #answer(text: string): Promise<unknown> {
    const pool = await this.pool({ max: 1 });
    try {
      return (await pool.query(text)).rows[0]?.answer;
    } finally {
      await pool.end();
    }
  }

  /** Cuts all connections. */
  async stop(): Promise<void> {
    this.#process?.signal('SIGINT', this.#pid);
    await this.#process?.gone;
    this.#process = undefined;
  }

  /** Ends the server at once, as a crash would. `restart` recovers its data from the log. */
  async kill(): Promise<void> {
    // Backends that outlive their server for a moment would keep a new one from starting.
    for (const pid of [...(await this.#backends()), this.#pid!]) signal(pid, 'SIGKILL');
    await this.#process?.gone;
    this.#process = undefined;
  }

  /** Stops all processes of the server, which keep their connections. @returns a function that lets them go on */
  async freeze(): Promise<() => void> {
    const pids = [this.#pid!, ...(await this.#backends())];
    for (const pid of pids) signal(pid, 'SIGSTOP');
    return () => {
      for (const pid of pids) signal(pid, 'SIGCONT');
      // runuser stops itself when the program that it runs is stopped.
      this.#process?.signal('SIGCONT', undefined);
    };
  }

  async #backends(): Promise<number[]> {
    const children = await readFile(`/proc/${this.#pid}/task/${this.#pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.folder, 'data');
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has just ended by itself
  }
}

function newest(): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number).filter(Boolean) : [];
  return join(VERSIONS, versions.length > 0 ? String(Math.max(...versions)) : '', 'bin');
}

async function asUser(...words: string[]): Promise<string> {
  const [file, ...args] = [...AS_USER, ...words];
  return (await execa(file!, args)).stdout;
}
