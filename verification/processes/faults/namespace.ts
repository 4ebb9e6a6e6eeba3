import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { supervised } from '../../../lib/testing/hazelcast/supervisor.js';

/**
 * A network namespace without a name, which lives as long as the process that holds it (and those that run inside). That
 * process can't outlive this one: however a run ends, nothing is left behind.
 */
export class Namespace implements AsyncDisposable {
  private constructor(
    private readonly pid: number,
    private readonly end: () => Promise<unknown>,
  ) {}

  static async open(): Promise<Namespace> {
    const { file, args } = supervised([], ['unshare', '--net', 'sh', '-c', 'echo "in $$"; exec sleep infinity']);
    const holder = execa(file, args, { stdin: 'pipe', buffer: false, reject: false, detached: true });
    for await (const line of createInterface({ input: holder.stdout })) {
      const pid = /^in (\d+)$/.exec(line)?.[1];
      if (pid === undefined) continue;
      return new Namespace(Number(pid), async () => {
        holder.stdin.end();
        await holder;
      });
    }
    throw new Error(`unshare --net: no network namespace (are you root?): ${(await holder).shortMessage ?? ''}`);
  }

  /** Identifies it to `ip`. */
  get id(): string {
    return String(this.pid);
  }

  /** Put in front of a command, runs it inside. */
  get command(): string[] {
    return ['nsenter', `--net=/proc/${this.pid}/ns/net`];
  }

  /** Lines of `ip`, without the word: all in one go. */
  async ip(...lines: string[]): Promise<void> {
    const [nsenter, net] = this.command;
    await execa(nsenter!, [net!, 'ip', '-batch', '-'], { input: `${lines.join('\n')}\n` });
  }

  async run(...command: string[]): Promise<void> {
    const [nsenter, net] = this.command;
    await execa(nsenter!, [net!, ...command]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
