import { FirstAttempt } from '../../../lib/core/store/first-attempt.js';
import { Calls } from '../../../lib/stores/hazelcast/calls.js';
import { resolveOptions } from '../../../lib/stores/hazelcast/hazelcast.options.js';
import type { Session } from '../../../lib/stores/hazelcast/session.js';

/** What a test says of the connection. */
interface Circumstances {
  readonly session?: Partial<Session> | undefined;
  readonly isClosed?: boolean;
  /** Default: it has ended. */
  readonly firstAttempt?: FirstAttempt;
  readonly quorum?: number;
}

/** Calls over a session that a test made up. */
export function callsOver({ session, isClosed = false, firstAttempt = ended(), quorum }: Circumstances): Calls {
  const connection = {
    session: session as Session | undefined,
    isClosed,
    problem: session ? undefined : 'no member answers',
    failure: undefined,
    firstAttempt,
  };
  return new Calls(connection as unknown as ConstructorParameters<typeof Calls>[0], resolveOptions({ quorum }), 50);
}

function ended(): FirstAttempt {
  const attempt = new FirstAttempt();
  attempt.end();
  return attempt;
}
