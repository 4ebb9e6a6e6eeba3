import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { z } from 'zod';
import { systemClock } from '../../async/node-clock.js';
import { inSlices } from '../../async/slices.js';
import { InvalidOptionsError, compileInPieces, faultsOf } from '../../decision/index.js';
import { type InputOf, LARGEST_BODY, type Route } from '../api/index.js';
import { ROUTE_METADATA, VISITOR } from '../console.constants.js';
import { expectSeen, seesOf } from '../access/name-limit.js';
import type { Visitor } from '../access/tokens.js';
import { bodyOf } from './body.js';
import type { ConsoleRequest } from './console-request.js';

/** Injects params, query and body of the request, after the check by its route. A refusal lists every fault. */
export const Input = createParamDecorator((_: unknown, context: ExecutionContext) =>
  readInput(Reflect.getMetadata(ROUTE_METADATA, context.getHandler()), context.switchToHttp().getRequest()),
);

/** Injects the sender of the request. */
export const VisitorOf = createParamDecorator((_: unknown, context: ExecutionContext) => visitorOf(context));

/** Injects the check whether the sender may see a semaphore; undefined if it may see all. For lists. */
export const SeenNames = createParamDecorator((_: unknown, context: ExecutionContext) => seesOf(visitorOf(context)));

/** Injects the name of the sender, for the audit log. */
export const User = createParamDecorator((_: unknown, context: ExecutionContext) => visitorOf(context).user);

function visitorOf(context: ExecutionContext): Visitor {
  return context.switchToHttp().getRequest<ConsoleRequest>()[VISITOR]!;
}

/**
 * Fields with patterns, in a body and in a migration's `to`. To compile one takes ms, and zod would compile all in one
 * go.
 */
const PATTERNS = ['names', 'groupPattern', 'acquirerPattern'] as const;

function patternsIn(body: unknown): string[] {
  const { to, ...fields } = Object(body) as Record<string, unknown>;
  const values = [fields, Object(to) as Record<string, unknown>].flatMap((part) =>
    PATTERNS.map((field) => part[field]),
  );
  return values.flat().filter((value) => typeof value === 'string');
}

/** @throws InvalidOptionsError, ProblemError */
async function readInput(route: Route, request: ConsoleRequest): Promise<InputOf<Route>> {
  const body = route.body && (await bodyOf(request, route.largestBody ?? LARGEST_BODY));
  await inSlices(compileInPieces(patternsIn(body)), systemClock);
  const faults: string[] = [];
  const check = (schema: z.ZodType | undefined, value: unknown) => {
    const parsed = schema?.safeParse(value);
    if (parsed?.error) faults.push(...faultsOf(parsed.error));
    return parsed?.data;
  };
  const input = {
    params: check(route.params, { ...(request.params as object) }),
    query: check(route.query, { ...(request.query as object) }),
    body: check(route.body, body),
  };
  if (faults.length > 0) throw new InvalidOptionsError('the request', faults);
  expectSeen(request[VISITOR]!, input.params, input.query, input.body);
  return input as InputOf<Route>;
}
