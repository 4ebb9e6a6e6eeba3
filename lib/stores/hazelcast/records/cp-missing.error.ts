import { StoreUnavailableError } from '../../store.errors.js';

/** `cp: true` was asked for, and the members have no CP subsystem. */
export class CpMissingError extends StoreUnavailableError {
  override readonly code = 'cp-missing';

  constructor(found: string, options?: ErrorOptions) {
    super(
      `cp: true needs the CP subsystem of Hazelcast, which this cluster does not have (${found}): set ` +
        'cp-subsystem.cp-member-count to 3 or more on the members (open source up to 5.4, Enterprise from 5.5), or leave ' +
        'cp out of hazelcast(options)',
      options,
    );
  }
}
