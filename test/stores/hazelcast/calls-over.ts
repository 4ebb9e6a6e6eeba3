import { Calls } from '../../../lib/stores/hazelcast/calls.js';
import { resolveOptions } from '../../../lib/stores/hazelcast/hazelcast.options.js';
import type { Session } from '../../../lib/stores/hazelcast/session.js';

/** What a test says of the connection. */
interface Circumstances {
  readonly session?: Partial<Session> | undefined;
  readonly isClosed?: boolean;
  /** Ends the first attempt to connect; absent: it has ended. */
  readonly attempted?: Promise<void>;
  readonly quorum?: number;
}

/** Calls over a session that a test made up. */
export function callsOver({ session, isClosed = false, attempted, quorum }: Circumstances): Calls {
  const connection = {
    session: session as Session | undefined,
    isClosed,
    problem: session ? undefined : 'no member answers',
    failure: undefined,
    isFirstAttempt: attempted !== undefined,
    attempted: attempted ?? Promise.resolve(),
  };
  return new Calls(connection as unknown as ConstructorParameters<typeof Calls>[0], resolveOptions({ quorum }), 50);
}
