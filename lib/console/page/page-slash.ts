import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONSOLE_SETTINGS } from '../console.constants.js';
import type { ConsoleSettings } from '../console.settings.js';
import { eachFastifyRoute } from '../http/fastify-routes.js';

/** The page's name where its path with a slash at the end is one with the path without. */
export const PAGE_NAME = 'index.html';

/**
 * Fastify takes the page's two paths, with a slash at the end and without, for one when it is told to ignore that slash,
 * and would not start: there the second gets a name.
 */
@Injectable()
export class PageSlash {
  constructor(host: HttpAdapterHost, @Inject(CONSOLE_SETTINGS) { path }: ConsoleSettings) {
    eachFastifyRoute(host, (route, { ignoreTrailingSlash }) => {
      if (ignoreTrailingSlash && route.url.endsWith(`/${path}/`)) route.url += PAGE_NAME;
    });
  }
}
