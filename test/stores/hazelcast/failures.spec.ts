import {
  AuthenticationError,
  ClientNotActiveError,
  ClientOfflineError,
  HazelcastInstanceNotActiveError,
  HazelcastSerializationError,
  IllegalArgumentError,
  IndeterminateOperationStateError,
  IOError,
  OperationTimeoutError,
  SplitBrainProtectionError,
  TargetDisconnectedError,
  TargetNotMemberError,
} from 'hazelcast-client';
import { ClockPrefetchError } from '../../../lib/stores/hazelcast/flake-id-clock.js';
import { readFailure, writeFailure } from '../../../lib/stores/hazelcast/failures.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';

const UNSURE: [string, unknown][] = [
  ['AuthenticationError', new AuthenticationError('x')],
  ['ClientNotActiveError', new ClientNotActiveError('x')],
  ['ClientOfflineError', new ClientOfflineError()],
  ['HazelcastInstanceNotActiveError', new HazelcastInstanceNotActiveError('x')],
  ['HazelcastSerializationError', new HazelcastSerializationError('x')],
  ['IllegalArgumentError', new IllegalArgumentError('x')],
  ['IndeterminateOperationStateError', new IndeterminateOperationStateError('x')],
  ['IOError', new IOError('x')],
  ['OperationTimeoutError', new OperationTimeoutError('x')],
  ['TargetDisconnectedError', new TargetDisconnectedError('x')],
  ['TargetNotMemberError', new TargetNotMemberError('x')],
  ['TypeError', new TypeError('x')],
  ['what is no error', 'x'],
];

describe('A failed read', () => {
  it.each(UNSURE)('means that the store could not be asked, after %s', (_name, cause) => {
    const failure = readFailure(cause);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ code: 'unavailable', cause });
  });

  it('means that there is no quorum, after SplitBrainProtectionError', () => {
    const cause = new SplitBrainProtectionError('x');
    expect(readFailure(cause)).toBeInstanceOf(NoQuorumError);
    expect(readFailure(cause)).toMatchObject({ code: 'no-quorum', cause });
  });

  it('keeps an error that says already what it means', () => {
    const error = new ClockPrefetchError('clock');
    expect(readFailure(error)).toBe(error);
  });
});

describe('A failed write', () => {
  it.each(UNSURE)('may have been applied, after %s', (_name, cause) => {
    const failure = writeFailure(cause);
    expect(failure).toBeInstanceOf(UnknownOutcomeError);
    expect(failure).toMatchObject({ code: 'unknown-outcome', cause });
  });

  it('was refused for want of a quorum, after SplitBrainProtectionError', () => {
    const cause = new SplitBrainProtectionError('x');
    expect(writeFailure(cause)).toBeInstanceOf(NoQuorumError);
    expect(writeFailure(cause)).toMatchObject({ code: 'no-quorum', cause });
  });
});
