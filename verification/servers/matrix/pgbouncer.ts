import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../lib/testing/hazelcast/free-port.js';
import { MemberProcess } from '../../../lib/testing/hazelcast/member-process.js';
import { PID_MARK } from '../../../lib/testing/hazelcast/supervisor.js';
import { AS_USER, PostgresServer } from '../archives/postgres-server.js';
import { lackOf } from '../../needs/programs.js';

const PROGRAM = process.env['PGBOUNCER'] ?? 'pgbouncer';
const HOST = '127.0.0.1';
const IS_READY = 'process up';

/** Why no PgBouncer can be started here; undefined: one can. */
export const lackOfPgbouncer = await lackOf(PROGRAM);

type Mode = 'session' | 'transaction';

/** A PgBouncer in front of a server, with fewer connections to it than its clients have. */
export class PgBouncer implements AsyncDisposable {
  #process?: MemberProcess;
  #pid?: number;

  private constructor(
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start(server: PostgresServer, mode: Mode): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-pgbouncer-'));
    const bouncer = new PgBouncer(folder, await freePort(HOST, new Set([server.port])));
    await bouncer.#start(bouncer.#settings(server, mode));
    return bouncer;
  }

  get address(): string {
    return `postgres://anyone@${HOST}:${this.port}/postgres`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process?.signal('SIGTERM', this.#pid);
    await this.#process?.gone;
    await rm(this.folder, { recursive: true, force: true });
  }

  #settings(server: PostgresServer, mode: Mode): string {
    const { user, password } = PostgresServer;
    return [
      '[databases]',
      `postgres = host=${HOST} port=${server.port} user=${user} password=${password}`,
      '[pgbouncer]',
      `listen_addr = ${HOST}`,
      `listen_port = ${this.port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `pool_mode = ${mode}`,
      // In session mode each connection of a client needs one.
      `default_pool_size = ${mode === 'session' ? 60 : 4}`,
      'max_client_conn = 500',
    ].join('\n');
  }

  async #start(settings: string): Promise<void> {
    const config = join(this.folder, 'pgbouncer.ini');
    await writeFile(config, settings);
    // It refuses to run as root, and another user must read this.
    await chmod(this.folder, 0o755);
    const said: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const listen = (line: string) => {
        said.push(line);
        if (line.startsWith(PID_MARK)) this.#pid = Number(line.slice(PID_MARK.length));
        if (line.includes(IS_READY)) resolve();
      };
      this.#process = new MemberProcess(AS_USER, [PROGRAM, config], listen);
      void this.#process.gone.then(() => reject(new Error(`PgBouncer ended:\n${said.join('\n')}`)));
    });
  }
}
