import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { MEDIA_TYPE } from '../../stores/remote/protocol.js';

interface Fastify {
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void;
}

/**
 * Lets bodies of the store protocol through unread, because the console reads them itself, up to its own limit. Express
 * does so for types that it has no parser for. Fastify needs a parser that does nothing.
 */
@Injectable()
export class StoreMediaType implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    const { httpAdapter } = this.host;
    if (httpAdapter?.getType() !== 'fastify') return;
    const fastify = httpAdapter.getInstance<Fastify>();
    if (fastify.hasContentTypeParser(MEDIA_TYPE)) return;
    fastify.addContentTypeParser(MEDIA_TYPE, (_request, _payload, done) => done(null));
  }
}
