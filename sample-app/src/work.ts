import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Environment } from './environment.js';

/** Stands for the time that a task takes. */
@Injectable()
export class Work {
  constructor(private readonly environment: Environment) {}

  async take(signal: AbortSignal): Promise<void> {
    await pause(this.environment.taskDuration, undefined, { signal });
  }
}
