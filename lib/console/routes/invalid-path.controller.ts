import { Delete, Get, HttpException, HttpStatus, Patch, Post, Req, SetMetadata } from '@nestjs/common';
import { InvalidOptionsError, LONGEST_NAME, isLongerThan } from '../../decision/index.js';
import { LONGEST_TASK_ID } from '../../tasks/index.js';
import { ROUTE_METADATA } from '../console.constants.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleRequest } from '../http/console-request.js';
import { FastifyRoutes } from '../http/fastify-routes.js';
import { ProblemError } from '../http/problem.error.js';

/**
 * Paths with a name below them. The first part, "astray", is removed again when Fastify registers the route. It is
 * needed because Nest can be configured to refuse routes that overlap.
 */
const NAMED = [
  'semaphores',
  'explain',
  'permits',
  'leaders',
  'allocation/groups',
  'tasks',
  'task-groups',
  'task-types',
  'maintenance',
].map((path) => `astray/api/${path}`);

/** Answers paths that Fastify's router can't match. Reports the fault of the name in the path. */
@ConsoleController()
export class InvalidPathController {
  constructor(private readonly routes: FastifyRoutes) {
    routes.each((route) => {
      const named = NAMED.find((path) => route.url.endsWith(`/${path}`));
      if (named) route.url = `${route.url.slice(0, -named.length)}${named.slice('astray/'.length)}/*`;
    });
  }

  @Get(NAMED)
  @SetMetadata(ROUTE_METADATA, {})
  get(@Req() request: ConsoleRequest): never {
    return this.#refuse(request);
  }

  @Post(NAMED)
  @SetMetadata(ROUTE_METADATA, {})
  post(@Req() request: ConsoleRequest): never {
    return this.#refuse(request);
  }

  @Patch(NAMED)
  @SetMetadata(ROUTE_METADATA, {})
  patch(@Req() request: ConsoleRequest): never {
    return this.#refuse(request);
  }

  @Delete(NAMED)
  @SetMetadata(ROUTE_METADATA, {})
  delete(@Req() request: ConsoleRequest): never {
    return this.#refuse(request);
  }

  #refuse({ originalUrl, url }: ConsoleRequest): never {
    const [path = ''] = (originalUrl ?? url ?? '').split('?');
    const most = this.routes.options?.maxParamLength ?? Infinity;
    const segments = path.split('/').map((segment) => decodeURIComponent(segment));
    // Such a name is invalid on every adapter, because no semaphore can have it.
    const mostCharacters = /\/api\/task(s|-groups)\//.test(path) ? LONGEST_TASK_ID : LONGEST_NAME;
    const noName = segments.find((segment) => isLongerThan(segment, mostCharacters));
    if (noName !== undefined) throw new InvalidOptionsError('the request', [nameTooLong(noName, mostCharacters)]);
    const longest = Math.max(...segments.map(({ length }) => length));
    if (longest > most) throw new HttpException(tooLong(most, longest), HttpStatus.URI_TOO_LONG);
    throw new ProblemError(
      'not-found',
      'there is no such call (api/openapi.json lists all calls): write a "/" in a name as "%2F"',
    );
  }
}

function nameTooLong(name: string, most: number): string {
  return `the name in the path has ${Array.from(name).length} characters: it is longer than ${most} characters`;
}

/** Fastify counts UTF-16 units, and an emoji has two. */
function tooLong(most: number, longest: number): string {
  const enough = longest > 2 * LONGEST_NAME ? longest : longest > LONGEST_NAME ? 2 * LONGEST_NAME : LONGEST_NAME;
  return (
    `this application accepts names of ${most} characters in a path. To accept longer ones, create it with ` +
    `new FastifyAdapter({ routerOptions: { maxParamLength: ${enough} } }), ` +
    `or, before Fastify 5.5, new FastifyAdapter({ maxParamLength: ${enough} })`
  );
}
