import { spawnSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { javaCommand } from './shedlock.mjs';

/** ms for which a process may start, and a command may take. */
const PATIENCE = 120_000;
const ACTOR = fileURLToPath(new URL('actor.mjs', import.meta.url));

/** A node of a peer: a process of its own, which can't outlive this one. */
export class Actor {
  #child;
  #lines;
  #errors = '';

  /**
   * @param names of the locks that it will use; ours defines them
   * @param ahead s by which its wall clock is ahead; its monotonic clock is right
   */
  static async start(peer, address, { node = 'a', names = [], ahead = 0 } = {}) {
    const actor = new Actor();
    const program = peer.provider
      ? await javaCommand(peer, address, node)
      : [process.execPath, peer.actor ?? ACTOR, peer.id, JSON.stringify(address), node, JSON.stringify(names)];
    const [command, ...args] = program;
    const env = { ...process.env, ...(ahead !== 0 && wrongClock(ahead)) };
    actor.#child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    actor.#listen(actor.#child);
    await actor.#next('start');
    return actor;
  }

  /** @returns the answer; with `error` if the command failed */
  async ask(...words) {
    this.#child.stdin.write(`${words.join(' ')}\n`);
    return this.#next(words[0]);
  }

  freeze() {
    this.#child.kill('SIGSTOP');
  }

  thaw() {
    this.#child.kill('SIGCONT');
  }

  /** SIGKILL: a test of locks needs no farewell. */
  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }

  #listen(child) {
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (data) => (this.#errors = `${this.#errors}${data}`.slice(-2000)));
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Skips lines that are no answer. */
  async #next(command) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer to "${command}": ${this.#errors}`)), PATIENCE);
    });
    try {
      for (;;) {
        const { value, done } = await Promise.race([this.#lines.next(), late]);
        if (done) throw new Error(`the process ended at "${command}": ${this.#errors}`);
        if (value.startsWith('{')) return JSON.parse(value);
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The environment in which a program's wall clock is wrong. `faketime` in front would be a process between. */
function wrongClock(ahead) {
  return {
    LD_PRELOAD: faketimeLibrary(),
    FAKETIME: `+${ahead}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    // Without it Java's timed waits, which go by the monotonic clock, never end.
    FAKETIME_FORCE_MONOTONIC_FIX: '0',
  };
}

let library;

/** Only `faketime` knows where it is. It gives up if a killed process left a semaphore with its pid in the name. */
function faketimeLibrary() {
  for (let attempt = 0; !library && attempt < 5; attempt++) {
    library = spawnSync('faketime', ['-m', '-f', '+0s', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).stdout?.trim();
  }
  if (!library) throw new Error('"faketime -m -f +0s printenv LD_PRELOAD" does not say where its library is');
  return library;
}
