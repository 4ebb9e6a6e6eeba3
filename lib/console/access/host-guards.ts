import { type CanActivate, type ExecutionContext, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, ModuleRef } from '@nestjs/core';
import { type Observable, firstValueFrom, isObservable } from 'rxjs';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import type { ConsoleCall } from '../http/console-request.js';
import { ProblemError } from '../api/problem.error.js';

/** Runs the application's own guards that the options list. */
@Injectable()
export class HostGuards implements OnModuleInit {
  readonly #subject: Subject;
  #guards: readonly CanActivate[] = [];

  constructor(
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
    private readonly moduleRef: ModuleRef,
    private readonly application: ApplicationConfig,
  ) {
    this.#subject = subjectWith(settings.decorators);
  }

  async onModuleInit(): Promise<void> {
    this.#guards = await Promise.all(this.settings.guards.map((guard) => this.#instance(guard)));
  }

  /**
   * Asks the guards in order, until one refuses.
   *
   * @throws ProblemError if a guard returns false, or any error of a guard
   */
  async ask(call: ConsoleCall): Promise<void> {
    for (const guard of this.#guards) {
      if (!(await settled(guard.canActivate(contextOf(call, this.#subject))))) {
        throw new ProblemError('forbidden', 'a guard of the application refused the request');
      }
    }
  }

  /**
   * Returns the application's instance of a guard class: a global guard, or a provider. Creates an instance if there is none.
   * A global guard has no token of its own if it is given as `{ provide: APP_GUARD, useClass }`.
   */
  async #instance(guard: ConsoleSettings['guards'][number]): Promise<CanActivate> {
    if (typeof guard !== 'function') return guard;
    const global = this.application.getGlobalGuards().find((each) => each.constructor === guard);
    if (global) return global;
    try {
      return this.moduleRef.get(guard, { strict: false });
    } catch {
      // No module provides it. If it needs what no module gives the console, the application does not start.
      return this.moduleRef.create(guard);
    }
  }
}

/** Class and method that guards see. They carry the metadata of the option `decorators`. */
interface Subject {
  readonly type: ReturnType<ExecutionContext['getClass']>;
  readonly handler: ReturnType<ExecutionContext['getHandler']>;
}

/** Decorates a class that belongs to one application, because a decorator writes into what it decorates. */
function subjectWith(decorators: ConsoleSettings['decorators']): Subject {
  class GatekeeperConsole {
    serve(): void {}
  }
  const { prototype } = GatekeeperConsole;
  for (const decorate of decorators) {
    decorate(GatekeeperConsole);
    // Some guards read only the metadata of the class, others only those of the method.
    decorate(prototype, 'serve', Object.getOwnPropertyDescriptor(prototype, 'serve')!);
  }
  return { type: GatekeeperConsole, handler: prototype.serve };
}

function contextOf({ request, response }: ConsoleCall, { type, handler }: Subject): ExecutionContext {
  const args = [request, response];
  const at = (index: number) => args[index] as never;
  const notHttp = () => ({ getData: () => at(0), getContext: () => at(1) });
  return {
    getClass: () => type as never,
    getHandler: () => handler,
    getArgs: () => args as never,
    getArgByIndex: at,
    getType: () => 'http' as never,
    switchToHttp: () => ({ getRequest: () => at(0), getResponse: () => at(1), getNext: () => at(2) }),
    switchToRpc: notHttp,
    switchToWs: () => ({ getData: () => at(1), getClient: () => at(0), getPattern: () => '' }),
  };
}

function settled(answer: boolean | Promise<boolean> | Observable<boolean>): boolean | Promise<boolean> {
  return isObservable(answer) ? firstValueFrom(answer) : answer;
}
