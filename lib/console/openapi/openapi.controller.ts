import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Inject, Injectable, StreamableFile } from '@nestjs/common';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { HTTP_ROUTES, ROUTES } from '../api/index.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import { isTagKnown, tagOfBytes } from '../http/conditional.js';
import type { ConsoleCall, ConsoleRequest } from '../http/console-request.js';
import type { Controller, Handler } from '../http/handlers.js';
import { openApiOf } from './document.js';

/** The document as it is sent: made once, and shared by all answers, so those that are not read take no memory. */
interface Text {
  /** The bytes before and behind the path of the console. */
  readonly before: Buffer;
  readonly behind: Buffer;
  /** Of both. */
  readonly digest: Buffer;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** Stands in the document for the path of the console. */
const PLACE = '{path of the console}';

/** Serves the OpenAPI document. It contains no data of the cluster, so it needs no token. */
@Injectable()
export class OpenApiController implements Controller {
  readonly handlers: readonly Handler[] = [{ route: HTTP_ROUTES.openapi, handle: (call) => this.#document(call) }];
  #made?: Text;

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  /** Created on the first request, because a test may boot the application with a mocked gatekeeper. */
  get #text(): Text {
    const { clockTolerance } = partsOf(this.gatekeeper).directory.declared.rules;
    this.#made ??= textOf(openApiOf(Object.values(ROUTES), { mount: PLACE, clockTolerance }));
    return this.#made;
  }

  #document({ request, response }: ConsoleCall): StreamableFile | undefined {
    const { before, behind, digest } = this.#text;
    const mount = Buffer.from(JSON.stringify(mountOf(request, this.settings.trustProxy)));
    response.header('Cache-Control', 'no-cache');
    if (isTagKnown(request, response, tagOfBytes(digest, mount))) return undefined;
    const parts = [before, mount, behind];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    return new StreamableFile(Readable.from(parts, { objectMode: false }), { type: JSON_TYPE, length });
  }
}

function textOf(document: object): Text {
  const [before, behind] = JSON.stringify(document)
    .split(JSON.stringify(PLACE))
    .map((part) => Buffer.from(part)) as [Buffer, Buffer];
  return { before, behind, digest: createHash('sha256').update(before).update(behind).digest() };
}

const PREFIX = /^(\/[\w.~-]+)+$/;

/**
 * Returns the path of the console in the present request, with the prefixes of the application and of a trusted proxy
 * (`X-Forwarded-Prefix`).
 */
function mountOf({ originalUrl, url, headers }: ConsoleRequest, trustProxy: boolean): string {
  const { pathname } = new URL(originalUrl ?? url ?? '', 'http://here');
  const mount = pathname.replace(/\/+api\/openapi\.json\/*$/i, '');
  const prefix = String(headers['x-forwarded-prefix'] ?? '');
  return `${trustProxy && PREFIX.test(prefix) ? prefix : ''}${mount}` || '/';
}
