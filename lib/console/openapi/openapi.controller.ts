import { Inject, Req } from '@nestjs/common';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { ROUTES } from '../api/index.js';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleRequest } from '../http/console-request.js';
import { Serves } from '../http/serves.decorator.js';
import { openApiOf } from './document.js';

/** Serves the OpenAPI document. It contains no data of the cluster, so it needs no token. */
@ConsoleController()
export class OpenApiController {
  #made?: ReturnType<typeof openApiOf>;

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  /** Created on the first request, because a test may boot the application with a mocked gatekeeper. */
  get #document(): ReturnType<typeof openApiOf> {
    const { clockTolerance } = partsOf(this.gatekeeper).directory.declared.rules;
    this.#made ??= openApiOf(Object.values(ROUTES), { mount: '/', clockTolerance });
    return this.#made;
  }

  @Serves(ROUTES.openapi)
  document(@Req() request: ConsoleRequest): ReturnType<typeof openApiOf> {
    return { ...this.#document, servers: [{ url: mountOf(request, this.settings.trustProxy) }] };
  }
}

const PREFIX = /^(\/[\w.~-]+)+$/;

/**
 * Returns the path of the console in the present request, with the prefixes of the application and of a trusted proxy
 * (`X-Forwarded-Prefix`).
 */
function mountOf({ originalUrl, url, headers }: ConsoleRequest, trustProxy: boolean): string {
  const { pathname } = new URL(originalUrl ?? url ?? '', 'http://here');
  const mount = pathname.slice(0, pathname.lastIndexOf(`/${ROUTES.openapi.path}`));
  const prefix = String(headers['x-forwarded-prefix'] ?? '');
  return `${trustProxy && PREFIX.test(prefix) ? prefix : ''}${mount}` || '/';
}
