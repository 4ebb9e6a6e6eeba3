import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RunPermit } from 'nestjs-gatekeeper';
import { readSettings } from '../settings.js';

/** ms between two writes. */
const WRITE_EVERY = 60;

/** Writes to what the semaphores guard, with the permit's token. */
@Injectable()
export class GuardedWriter implements OnApplicationShutdown {
  readonly #settings = readSettings();
  readonly #agent = new Agent({ keepAlive: true });

  /**
   * Writes on for `took` ms of work: a process that was frozen has as many writes left as it had before. A careful writer looks before each write whether it still holds the permit, and stops when
   * it doesn't; a careless one trusts its lock: only the token protects the resource from it.
   */
  async writeFor(took: number, permit: RunPermit, isCareful: boolean): Promise<void> {
    for (let left = took; left > 0; left -= WRITE_EVERY) {
      if (isCareful && !permit.isHeld) return;
      await this.write(permit);
      await pause(Math.min(WRITE_EVERY, left));
    }
  }

  write({ semaphore, slot, token }: Pick<RunPermit, 'semaphore' | 'slot' | 'token'>): Promise<void> {
    const path = `/${semaphore}/${slot}/page?token=${token}&by=${this.#settings.name}`;
    const socketPath = this.#settings.resource!;
    return new Promise((resolve) => {
      const sent = request({ socketPath, path, method: 'PUT', agent: this.#agent }, (answer) => {
        answer.resume().once('close', resolve);
      });
      // The resource goes when the test is over, before this process does.
      sent.once('error', () => resolve()).end();
    });
  }

  onApplicationShutdown(): void {
    this.#agent.destroy();
  }
}
