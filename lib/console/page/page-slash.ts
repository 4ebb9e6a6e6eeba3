import { Inject, Injectable } from '@nestjs/common';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import { FastifyRoutes } from '../http/fastify-routes.js';

/** The page's name, by which it is found everywhere. */
export const PAGE_NAME = 'index.html';

/**
 * Serves the page's path with a slash at the end. Express treats both paths as one. Fastify treats them as two, unless its
 * option to ignore the slash is on: then two routes would be a conflict.
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
