import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { Redis } from 'ioredis';
import { freePort } from '../../lib/testing/hazelcast/free-port.js';
import { MemberProcess } from '../../lib/testing/hazelcast/member-process.js';
import { PID_MARK } from '../../lib/testing/hazelcast/supervisor.js';

/** Program of the servers: another version than the one in PATH, if the environment names one. */
export const REDIS_SERVER = process.env['REDIS_SERVER'] ?? 'redis-server';

const HOST = '127.0.0.1';
const IS_READY = 'Ready to accept connections';
const MOST_ATTEMPTS = 5;
/** From this version on, tests need a setting to use DEBUG. Older servers don't know the setting, and would not start. */
const FIRST_WITHOUT_DEBUG = 7;
/**
 * Ports of servers of a Cluster, which also listen on the port 10,000 above, for their bus. That must be below the range of
 * outgoing connections, too: there the connections of other tests to one server lie side by side, and a server rarely finds
 * a gap.
 */
const CLUSTER_PORTS = { first: 15_000, end: 22_000 };
const taken = new Set<number>();

/** A server without persistence in a temporary folder, on loopback. It can't outlive this process. */
export class RedisServer implements AsyncDisposable {
  #process?: MemberProcess;
  #pid?: number;

  private constructor(
    private readonly folder: string,
    readonly port: number,
    private readonly settings: Readonly<Record<string, string | number>>,
  ) {}

  /** @param settings as in redis.conf: `{ maxmemory: '10mb' }` */
  static async start(settings: Readonly<Record<string, string | number>> = {}): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-redis-'));
    for (let attempt = 1; ; attempt++) {
      const isOfCluster = settings['cluster-enabled'] === 'yes';
      const port = isOfCluster ? randomInt(CLUSTER_PORTS.first, CLUSTER_PORTS.end) : await freePort(HOST, taken);
      taken.add(port);
      const server = new RedisServer(folder, port, settings);
      try {
        await server.restart();
        return server;
      } catch (error) {
        // Another program may have the port, or the one for the bus.
        if (attempt < MOST_ATTEMPTS && (error as Error).message.includes('already in use')) continue;
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    }
  }

  get url(): string {
    return `redis://${HOST}:${this.port}`;
  }

  /** A client of the test itself, which closes it. */
  client(): Redis {
    return new Redis(this.port, HOST);
  }

  /** Runs one command, with a client of its own. */
  async command(name: string, ...args: (string | number)[]): Promise<unknown> {
    const client = this.client();
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  /**
   * Makes it a replica of `primary`. Resolves when it confirms writes: "online" comes earlier, while it still loads the
   * primary's data.
   */
  async follow(primary: RedisServer): Promise<void> {
    await this.command('REPLICAOF', HOST, primary.port);
    const client = primary.client();
    try {
      for (let confirmed = 0; confirmed === 0;) {
        await client.publish('follow', 'a write that leaves no key');
        confirmed = await client.wait(1, 1000);
      }
    } finally {
      client.disconnect();
    }
  }

  /** Starts a server without data at the same port. Resolves when it takes connections. */
  async restart(): Promise<void> {
    await this.kill();
    const fixed = {
      bind: HOST,
      port: this.port,
      dir: this.folder,
      save: '',
      appendonly: 'no',
      // By default a primary waits 5 s for more replicas before it sends its data to the first one.
      'repl-diskless-sync-delay': 0,
      ...(await debugging()),
    };
    const args = Object.entries({ ...fixed, ...this.settings }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]);
    const said: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const listen = (line: string) => {
        said.push(line);
        if (line.startsWith(PID_MARK)) this.#pid = Number(line.slice(PID_MARK.length));
        if (line.includes(IS_READY)) resolve();
      };
      this.#process = new MemberProcess([], [REDIS_SERVER, ...args], listen);
      void this.#process.gone.then(() => reject(new Error(`Redis ended:\n${said.join('\n')}`)));
    });
  }

  /** SIGSTOP: it answers nothing, and its connections stay. */
  freeze(): void {
    this.#process?.signal('SIGSTOP', this.#pid);
  }

  thaw(): void {
    this.#process?.signal('SIGCONT', this.#pid);
  }

  /** SIGKILL: its data are gone. */
  async kill(): Promise<void> {
    this.#process?.signal('SIGKILL', this.#pid);
    await this.#process?.gone;
    this.#process = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

let debuggingSettings: Promise<Readonly<Record<string, string>>> | undefined;

/** Settings by which a server accepts DEBUG. */
function debugging(): Promise<Readonly<Record<string, string>>> {
  return (debuggingSettings ??= findDebugging());
}

async function findDebugging(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await execa(REDIS_SERVER, ['--version']);
  const major = Number(/v=(\d+)/.exec(stdout)?.[1]);
  return major >= FIRST_WITHOUT_DEBUG ? { 'enable-debug-command': 'local' } : {};
}
