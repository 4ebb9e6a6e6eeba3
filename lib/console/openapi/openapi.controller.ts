import { Req } from '@nestjs/common';
import { ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleRequest } from '../http/console-request.js';
import { Serves } from '../http/serves.decorator.js';
import { openApiOf } from './document.js';

/** Describes the API for programs. The document says nothing of this cluster, so that it needs no token. */
@ConsoleController()
export class OpenApiController {
  readonly #document = openApiOf(Object.values(ROUTES), '/');

  @Serves(ROUTES.openapi)
  document(@Req() request: ConsoleRequest): ReturnType<typeof openApiOf> {
    return { ...this.#document, servers: [{ url: mountOf(request) }] };
  }
}

/** The path at which the console was asked, with whatever the application puts before it. */
function mountOf({ originalUrl, url }: ConsoleRequest): string {
  const { pathname } = new URL(originalUrl ?? url ?? '', 'http://here');
  return pathname.slice(0, pathname.lastIndexOf(`/${ROUTES.openapi.path}`)) || '/';
}
