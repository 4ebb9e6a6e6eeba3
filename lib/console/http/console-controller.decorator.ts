import { Controller, UseFilters, UseGuards, UseInterceptors, VERSION_NEUTRAL, applyDecorators } from '@nestjs/common';
import { AccessGuard } from '../access/access.guard.js';
import { AnswerInPieces } from './answer-in-pieces.interceptor.js';
import { ProblemFilter } from './problem.filter.js';

/**
 * A controller of the console. Its path comes from the module. It has its own guard, filter and interceptor, in addition to those
 * of the application. It is version-neutral in applications with versioned routes.
 */
export function ConsoleController(): ClassDecorator {
  return applyDecorators(
    Controller({ path: '', version: VERSION_NEUTRAL }),
    UseGuards(AccessGuard),
    UseFilters(ProblemFilter),
    UseInterceptors(AnswerInPieces),
  );
}
