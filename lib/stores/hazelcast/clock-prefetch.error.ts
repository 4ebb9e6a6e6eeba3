import { StoreUnavailableError } from '../store.errors.js';

/** The client that was passed in takes ids in batches: they tell when the batch was fetched, not what time it is. */
export class ClockPrefetchError extends StoreUnavailableError {
  override readonly code = 'clock-prefetch';

  constructor(clockName: string) {
    super(
      `Cluster time can't be read, because the Hazelcast client that was passed in fetches ids in advance: make it with ` +
        `the ClientConfig { flakeIdGenerators: { '${clockName}*': { prefetchCount: 1 } } }`,
    );
  }
}
