import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { PermitLostError, type RunPermit } from 'nestjs-gatekeeper';
import { FreezeWatch } from './freeze-watch.js';
import { say } from './say.js';

/** Logs the state of permits right after a freeze: the first callback that runs uses a permit at once. */
@Injectable()
export class Awakening implements OnModuleInit, OnModuleDestroy {
  readonly #watch = new FreezeWatch({
    frozen: 2000,
    onWoken: (callback) => say('woken', { callback, assertHeld: thrownBy(() => this.#permit?.assertHeld()) }),
    onTimersOver: () => say('first-timer-turn-over', { isAborted: this.#signalBeside?.aborted }),
  });
  #permit?: RunPermit;
  #signalBeside?: AbortSignal;

  async onModuleInit(): Promise<void> {
    say('awakening', { port: await this.#watch.start({ port: 0, host: '127.0.0.1' }) });
  }

  onModuleDestroy(): void {
    this.#watch.stop();
  }

  /** @param signalBeside of another permit, which is not touched: reading `isHeld` would end it too */
  watch(permit: RunPermit, signalBeside: AbortSignal): void {
    this.#permit = permit;
    this.#signalBeside = signalBeside;
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
