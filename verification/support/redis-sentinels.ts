import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../../test/contract/eventually.js';
import { freePort } from '../../lib/testing/hazelcast/free-port.js';
import { MemberProcess } from '../../lib/testing/hazelcast/member-process.js';
import { PID_MARK } from '../../lib/testing/hazelcast/supervisor.js';
import { REDIS_SERVER } from './redis-server.js';

const HOST = '127.0.0.1';
const SENTINELS = 3;
const QUORUM = 2;
const IS_WATCHING = '+monitor master';
/** ms without an answer after which a sentinel takes a server for dead. A busy machine may keep one waiting for a second. */
const DOWN_AFTER = 2000;

/** Three sentinels that watch a primary and its replica, on loopback. They can't outlive this process. */
export class RedisSentinels implements AsyncDisposable {
  readonly name = 'gatekeeper';
  readonly #sentinels: Sentinel[] = [];

  private constructor(private readonly folder: string) {}

  /** Resolves when each sentinel knows the others and the replica: before, none can begin a failover. */
  static async watching(primaryPort: number): Promise<RedisSentinels> {
    const group = new RedisSentinels(await mkdtemp(join(tmpdir(), 'gatekeeper-sentinels-')));
    try {
      await group.#start(primaryPort);
    } catch (error) {
      await group[Symbol.asyncDispose]();
      throw error;
    }
    return group;
  }

  get addresses(): { host: string; port: number }[] {
    return this.#sentinels.map(({ port }) => ({ host: HOST, port }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sentinels.map((sentinel) => sentinel.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }

  async #start(primaryPort: number): Promise<void> {
    const taken = new Set<number>();
    for (let index = 0; index < SENTINELS; index++) {
      const port = await freePort(HOST, taken);
      taken.add(port);
      const file = join(this.folder, `${port}.conf`);
      await writeFile(file, this.#configuration(port, primaryPort));
      this.#sentinels.push(new Sentinel(port, file));
    }
    await Promise.all(this.#sentinels.map(({ started }) => started));
    await eventually('the sentinels know each other and the replica', async () =>
      (await Promise.all(this.#sentinels.map((sentinel) => this.#isComplete(sentinel)))).every(Boolean),
    );
  }

  #configuration(port: number, primaryPort: number): string {
    const { name } = this;
    return [
      `bind ${HOST}`,
      `port ${port}`,
      `dir ${this.folder}`,
      `sentinel monitor ${name} ${HOST} ${primaryPort} ${QUORUM}`,
      `sentinel down-after-milliseconds ${name} ${DOWN_AFTER}`,
      `sentinel failover-timeout ${name} 4000`,
      '',
    ].join('\n');
  }

  async #isComplete({ port }: Sentinel): Promise<boolean> {
    const client = new Redis(port, HOST);
    try {
      const fields = (await client.call('SENTINEL', 'MASTER', this.name)) as string[];
      const valueOf = (field: string) => Number(fields[fields.indexOf(field) + 1]);
      return valueOf('num-other-sentinels') === SENTINELS - 1 && valueOf('num-slaves') === 1;
    } finally {
      client.disconnect();
    }
  }
}

class Sentinel {
  readonly started: Promise<void>;
  readonly #process: MemberProcess;
  #pid?: number;

  constructor(
    readonly port: number,
    file: string,
  ) {
    let isWatching!: () => void;
    const said: string[] = [];
    const watching = new Promise<void>((resolve) => (isWatching = resolve));
    this.#process = new MemberProcess([], [REDIS_SERVER, file, '--sentinel'], (line) => {
      said.push(line);
      if (line.startsWith(PID_MARK)) this.#pid = Number(line.slice(PID_MARK.length));
      if (line.includes(IS_WATCHING)) isWatching();
    });
    const ended = this.#process.gone.then(() => Promise.reject(new Error(`A sentinel ended:\n${said.join('\n')}`)));
    this.started = Promise.race([watching, ended]);
  }

  async kill(): Promise<void> {
    this.#process.signal('SIGKILL', this.#pid);
    await this.#process.gone;
  }
}
