import { Delete, Get, HttpException, HttpStatus, Patch, Post, Req, SetMetadata } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { LONGEST_NAME } from '../../semaphores/index.js';
import { ROUTE_METADATA } from '../console.constants.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleRequest } from '../http/console-request.js';
import { eachFastifyRoute, fastifyOptions } from '../http/fastify-routes.js';
import { ProblemError } from '../http/problem.error.js';

/** Express wants a wildcard to have a name, Fastify wants it to have none. */
const REST = '*astray';
/** Below these a name stands in the path. */
const NAMED = ['api/semaphores', 'api/explain', 'api/permits'].map((path) => `${path}/${REST}`);

/** Calls that the router could not make out: says what is wrong with the name in their path. */
@ConsoleController()
export class AstrayController {
  constructor(private readonly host: HttpAdapterHost) {
    eachFastifyRoute(host, (route) => {
      if (route.url.endsWith(`/${REST}`)) route.url = route.url.slice(0, 1 - REST.length);
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
    const most = fastifyOptions(this.host)?.maxParamLength ?? Infinity;
    const isTooLong = path.split('/').some((segment) => decodeURIComponent(segment).length > most);
    if (isTooLong) throw new HttpException(tooLong(most), HttpStatus.URI_TOO_LONG);
    throw new ProblemError(
      'not-found',
      'there is no such call (api/openapi.json has all of them): a "/" in a name is written "%2F" in a path',
    );
  }
}

function tooLong(most: number): string {
  return `this application takes names of ${most} characters in a path: give it new FastifyAdapter({ routerOptions: { maxParamLength: ${LONGEST_NAME} } })`;
}
