import { Inject, Injectable } from '@nestjs/common';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import { FastifyRoutes } from '../http/fastify-routes.js';

/** Name of the page's file, a path that works on every server. */
export const PAGE_NAME = 'index.html';

/**
 * Serves the page's path with a slash at the end on Fastify, which treats it as another path than the one without the
 * slash. If Fastify's option `ignoreTrailingSlash` is on, both are one path, and a second route would be a conflict.
 * Express always treats them as one.
 */
@Injectable()
export class PageSlash {
  constructor(routes: FastifyRoutes, @Inject(CONSOLE_SETTINGS) { path }: ConsoleSettings) {
    routes.each((route, { ignoreTrailingSlash }) => {
      const isPage = route.url.endsWith(`/${path}/${PAGE_NAME}`);
      if (isPage && !ignoreTrailingSlash) route.url = route.url.slice(0, -PAGE_NAME.length);
    });
  }
}
