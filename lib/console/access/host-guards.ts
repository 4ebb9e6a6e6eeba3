import { type CanActivate, type ExecutionContext, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type Observable, firstValueFrom, isObservable } from 'rxjs';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import { ProblemError } from '../http/problem.error.js';

/** Runs the application's own guards that the options list. */
@Injectable()
export class HostGuards implements OnModuleInit {
  #guards: readonly CanActivate[] = [];

  constructor(
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
    private readonly moduleRef: ModuleRef,
  ) {}

  async onModuleInit(): Promise<void> {
    this.#guards = await Promise.all(this.settings.guards.map((guard) => this.#instance(guard)));
  }

  /**
   * Asks the guards in order, until one refuses.
   *
   * @throws ProblemError if a guard returns false, or any error of a guard
   */
  async ask(context: ExecutionContext): Promise<void> {
    for (const guard of this.#guards) {
      if (!(await settled(guard.canActivate(context)))) {
        throw new ProblemError('forbidden', 'a guard of the application refused the request');
      }
    }
  }

  /**
   * Returns the application's instance of a guard class, or creates an instance if the application does not provide
   * one.
   */
  async #instance(guard: ConsoleSettings['guards'][number]): Promise<CanActivate> {
    if (typeof guard !== 'function') return guard;
    try {
      return this.moduleRef.get(guard, { strict: false });
    } catch {
      return this.moduleRef.create(guard);
    }
  }
}

function settled(answer: boolean | Promise<boolean> | Observable<boolean>): boolean | Promise<boolean> {
  return isObservable(answer) ? firstValueFrom(answer) : answer;
}
