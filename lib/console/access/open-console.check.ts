import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';

/** Logs a warning at the start if the console is insecure. */
@Injectable()
export class OpenConsoleCheck implements OnModuleInit {
  constructor(@Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings) {}

  onModuleInit(): void {
    if (this.settings.insecure) new Logger('Gatekeeper').warn(OPEN);
  }
}

const OPEN =
  'the console runs with insecure: true: every client that reaches its port may change what runs. Give it tokens, unless only this machine reaches the port';
