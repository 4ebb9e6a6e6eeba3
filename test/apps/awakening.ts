import { once } from 'node:events';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { PermitLostError, type RunPermit } from 'nestjs-gatekeeper';
import { say, sharedNow } from './say.js';

/** ms without a callback after which the process must have been frozen. */
const FROZEN = 2000;

/**
 * What a process finds when it goes on after it was frozen. Two callbacks wait for that: one of I/O, on a socket that a
 * test writes to meanwhile, and a timer. Whichever runs first uses a permit at once.
 */
@Injectable()
export class Awakening implements OnModuleInit, OnModuleDestroy {
  readonly #server: Server = createServer((socket) => socket.on('data', () => this.#look('io')));
  #timer?: NodeJS.Timeout;
  #lastSeen = sharedNow();
  #isFirstTimer = false;
  #permit?: RunPermit;
  #signalBeside?: AbortSignal;

  async onModuleInit(): Promise<void> {
    this.#timer = setInterval(() => this.#look('timer'), 50);
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    say('awakening', { port: (this.#server.address() as AddressInfo).port });
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
    this.#server.close();
  }

  /** @param signalBeside of another permit, which is not touched: reading `isHeld` would end it too */
  watch(permit: RunPermit, signalBeside: AbortSignal): void {
    this.#permit = permit;
    this.#signalBeside = signalBeside;
  }

  #look(callback: 'io' | 'timer'): void {
    const now = sharedNow();
    const wasFrozen = now - this.#lastSeen > FROZEN;
    this.#lastSeen = now;
    if (wasFrozen) this.#wake(callback);
    if (callback === 'io' || !this.#isFirstTimer) return;
    this.#isFirstTimer = false;
    // Runs when all timers that were due have run, and no I/O since.
    setImmediate(() => say('first-timer-turn-over', { isAborted: this.#signalBeside?.aborted }));
  }

  #wake(callback: 'io' | 'timer'): void {
    this.#isFirstTimer = true;
    say('woken', { callback, assertHeld: thrownBy(() => this.#permit?.assertHeld()) });
  }
}

function thrownBy(act: () => void): string {
  try {
    act();
    return 'nothing';
  } catch (error) {
    return error instanceof PermitLostError ? error.code : String(error);
  }
}
