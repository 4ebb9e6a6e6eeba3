import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Logs once that the console is not served in an application without HTTP, such as a worker that shares the module. */
@Injectable()
export class HttpCheck implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    if (this.host.httpAdapter) return;
    new Logger('Gatekeeper').log('the console is not served: this application has no HTTP server');
  }
}
