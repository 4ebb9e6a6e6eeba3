import { type CallHandler, Injectable, type NestInterceptor, ServiceUnavailableException } from '@nestjs/common';
import { PermitLostError, StoreUnavailableError, SubmitManyError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { type Observable, catchError } from 'rxjs';

const FAULTS = [StoreUnavailableError, UnknownOutcomeError, PermitLostError];

/** A store that can't be asked, or a permit that got lost, is nothing that the caller did wrong: 503, try later. */
@Injectable()
export class UnavailableInterceptor implements NestInterceptor {
  intercept(_: unknown, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      catchError((error: Error) => {
        const first = error instanceof SubmitManyError ? error.cause : error;
        const isUnavailable = FAULTS.some((fault) => first instanceof fault);
        throw isUnavailable ? new ServiceUnavailableException(error.message, { cause: error }) : error;
      }),
    );
  }
}
