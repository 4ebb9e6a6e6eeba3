import { Header, HttpCode, RequestMapping, RequestMethod, SetMetadata, applyDecorators } from '@nestjs/common';
import type { Route } from '../api/index.js';
import { ROUTE_METADATA } from '../console.constants.js';

/** Makes a method the handler of a route, and keeps the route's description for the guard and {@link Input}. */
export function Serves(route: Route): MethodDecorator {
  return applyDecorators(
    RequestMapping({ path: route.path, method: RequestMethod[route.method] }),
    HttpCode(route.status ?? 200),
    Header('Cache-Control', 'no-store'),
    Header('X-Content-Type-Options', 'nosniff'),
    SetMetadata(ROUTE_METADATA, route),
  );
}
