import { Controller, UseFilters, UseGuards, UseInterceptors, VERSION_NEUTRAL, applyDecorators } from '@nestjs/common';
import { AccessGuard } from '../access/access.guard.js';
import { AnswerInPieces } from './answer-in-pieces.interceptor.js';
import { ProblemFilter } from './problem.filter.js';

/**
 * A controller of the console. Its path comes from the module; guard, filter and interceptor are its own, besides those of
 * the application. An application that numbers its versions mounts it without one.
 */
export function ConsoleController(): ClassDecorator {
  return applyDecorators(
    Controller({ path: '', version: VERSION_NEUTRAL }),
    UseGuards(AccessGuard),
    UseFilters(ProblemFilter),
    UseInterceptors(AnswerInPieces),
  );
}
