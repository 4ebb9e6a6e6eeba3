import { Controller, UseFilters, UseGuards, UseInterceptors, VERSION_NEUTRAL, applyDecorators } from '@nestjs/common';
import { AccessGuard } from '../access/access.guard.js';
import { AnswerInPieces } from './answer-in-pieces.interceptor.js';
import { ProblemFilter } from './problem.filter.js';

/**
 * Marks a controller of the console. Its path comes from the module. It has its own guard, filter and interceptor, in
 * addition to those of the application. In applications with versioned routes it is version-neutral.
 */
export function ConsoleController(): ClassDecorator {
  return applyDecorators(
    Controller({ path: '', version: VERSION_NEUTRAL }),
    UseGuards(AccessGuard),
    UseFilters(ProblemFilter),
    UseInterceptors(AnswerInPieces),
  );
}
