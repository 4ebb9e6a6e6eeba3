import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Logs at boot if the application has no HTTP, so that the console is not served. A worker may share the module. */
@Injectable()
export class HttpCheck implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    if (this.host.httpAdapter) return;
    new Logger('Gatekeeper').log('the console is not served: this application has no HTTP server');
  }
}
