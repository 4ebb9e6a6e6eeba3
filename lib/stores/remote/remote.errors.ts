import { StoreUnavailableError } from '../store.errors.js';

/** The other application was reached and serves this one nothing as it is set up: the token, the path, the version. */
export class RemoteRefusedError extends StoreUnavailableError {
  override readonly code = 'remote-refused';
}
