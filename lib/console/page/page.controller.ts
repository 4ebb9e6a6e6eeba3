import { HttpStatus, Inject, Injectable, StreamableFile } from '@nestjs/common';
import { z } from 'zod';
import { route } from '../api/operation.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import { isTagKnown } from '../http/conditional.js';
import type { ConsoleCall, ConsoleRequest, ConsoleResponse } from '../http/console-request.js';
import type { Controller, Handler } from '../http/handlers.js';
import { ProblemError } from '../api/problem.error.js';
import { PageFiles } from './page-files.js';

/** Allows only scripts, styles and images of this server, nothing inline. No other page may embed this one. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  // Another page of the application that opens this one in a window can't reach into it: it may be signed in.
  'Cross-Origin-Opener-Policy': 'noopener-allow-popups',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

const FILE_NAME = 'index.html';
const PAGE = route({ method: 'GET', path: '', summary: 'The page', mediaType: 'text/html', answer: z.string() });
const ASSET = route({ method: 'GET', path: 'assets/:name', summary: 'A file of the page', answer: z.string() });

/**
 * Serves the page and its assets. They contain no data, so they need no token; the page asks the user for one. All URLs
 * are relative, so the page works below any prefix, even if only a proxy knows it.
 */
@Injectable()
export class PageController implements Controller {
  readonly handlers: readonly Handler[] = [
    { route: PAGE, handle: (call) => this.#page(call) },
    { route: { ...PAGE, path: FILE_NAME }, handle: (call) => this.#page(call) },
    { route: ASSET, handle: (call) => this.#asset(call) },
  ];

  constructor(
    private readonly files: PageFiles,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  async #page({ request, response }: ConsoleCall): Promise<StreamableFile | undefined> {
    const { originalUrl, url } = request;
    const [path = ''] = (originalUrl ?? url ?? '').split('?');
    const isPage = path.endsWith('/') || path.endsWith(`/${FILE_NAME}`);
    return isPage ? this.#give('', request, response) : this.#redirect(response);
  }

  #asset({ request, response }: ConsoleCall): Promise<StreamableFile | undefined> {
    const { name } = request.params as { readonly name: string };
    return this.#give(name, request, response);
  }

  async #give(name: string, request: ConsoleRequest, response: ConsoleResponse): Promise<StreamableFile | undefined> {
    const file = this.files.get(name);
    if (!file) throw new ProblemError('not-found', notFound(name));
    // The name of an asset contains a hash of its content, so the content never changes.
    const caching = name === '' ? 'no-cache' : 'public, max-age=31536000, immutable';
    this.#setHeaders(response, { ...HEADERS, 'Cache-Control': caching });
    if (isTagKnown(request, response, file.tag)) return undefined;
    return new StreamableFile(file.content, { type: file.type, length: file.content.length });
  }

  /** Redirects to a path relative to the last part of the present one, so that a prefix of a proxy stays. */
  #redirect(response: ConsoleResponse): undefined {
    this.#setHeaders(response, { Location: `${this.settings.path.split('/').at(-1)}/`, 'Cache-Control': 'no-cache' });
    response.status(HttpStatus.FOUND);
  }

  #setHeaders(response: ConsoleResponse, headers: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
  }
}

function notFound(name: string): string {
  return name === ''
    ? 'the page was not built: run the build of this package'
    : 'this page belongs to another version of the application: reload it';
}
