import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';

/** Warns at the start of a console that is open to all. */
@Injectable()
export class OpenConsoleCheck implements OnModuleInit {
  constructor(@Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings) {}

  onModuleInit(): void {
    if (this.settings.insecure) new Logger('Gatekeeper').warn(OPEN);
  }
}

const OPEN =
  'the console runs with insecure: true: all who reach its port may change what runs. Give it tokens, unless nothing but this machine reaches the port';
