import { InvalidTaskError, StoreUnavailableError, SubmitManyError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { lastValueFrom, throwError } from 'rxjs';
import { UnavailableInterceptor } from '../../../sample-app/src/imports/unavailable.interceptor.js';

describe('a request that fails', () => {
  const answer = async (error: Error) => {
    const failed = new UnavailableInterceptor().intercept(undefined, { handle: () => throwError(() => error) });
    return lastValueFrom(failed).catch((fault: unknown) => fault);
  };
  const NO_ANSWER = new UnknownOutcomeError('no answer');
  const NO_NAME = new InvalidTaskError('no name');

  it.each([
    { error: new StoreUnavailableError('no server') },
    { error: NO_ANSWER },
    { error: new SubmitManyError([], { cause: NO_ANSWER }) },
  ])('may be tried again later if the store was the reason: $error.message', async ({ error }) => {
    expect(await answer(error)).toMatchObject({ status: 503, message: error.message, cause: error });
  });

  it.each([{ error: NO_NAME }, { error: new SubmitManyError([], { cause: NO_NAME }) }, { error: new Error('a bug') }])(
    'is as it was if the store was not the reason: $error.message',
    async ({ error }) => {
      expect(await answer(error)).toBe(error);
    },
  );
});
