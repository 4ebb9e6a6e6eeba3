import { ReplyError } from 'ioredis';
import { ErrorReply, SimpleError, SocketClosedUnexpectedlyError } from 'redis';
import { connectionProblem, readFailure, replyCodeOf, writeFailure } from '../../../lib/stores/redis/failures.js';

const reply = (message: string) => new SimpleError(message);
const CHECK_ADDRESS = 'check host and port, and that the server runs';

describe('an error reply of Redis', () => {
  it.each([
    ['READONLY', "READONLY You can't write against a read only replica. script: 5f…, on @user_script:8."],
    [
      'READONLY',
      "ERR Error running script (call to f_5f): @user_script:8: -READONLY You can't write against a read only replica. ",
    ],
    ['OOM', "@user_script: 39: -OOM command not allowed when used memory > 'maxmemory'."],
    ['READONLY', "@user_script: 84: -READONLY You can't write against a read only replica."],
    ['NOSCRIPT', 'NOSCRIPT No matching script. Please use EVAL.'],
    ['CLUSTERDOWN', 'CLUSTERDOWN Hash slot not served'],
    ['ERR', 'ERR unknown command'],
  ])('has the code %s', (code, message) => {
    expect(replyCodeOf(new ReplyError(message))).toBe(code);
    expect(replyCodeOf(new ErrorReply(message))).toBe(code);
    expect(replyCodeOf(new SimpleError(message))).toBe(code);
  });

  it('is found behind too many redirections of ioredis, unless the last try ended otherwise', () => {
    const last = (error: string) => new Error(`Too many Cluster redirections. Last error: ${error}`);
    expect(replyCodeOf(last('ReplyError: ASK 13907 127.0.0.1:6381'))).toBe('ASK');
    expect(replyCodeOf(last('Error: Connection is closed.'))).toBeUndefined();
    expect(writeFailure(last('ReplyError: MOVED 1584 127.0.0.1:6381'), true)).toMatchObject({ code: 'unavailable' });
    expect(writeFailure(last('Error: Connection is closed.'), true)).toMatchObject({ code: 'unknown-outcome' });
  });

  it('is found in a bundle whose classes have short names', () => {
    class e extends Error {}
    expect(replyCodeOf(new e('NOSCRIPT No matching script. Please use EVAL.'))).toBe('NOSCRIPT');
    expect(writeFailure(new e('OOM command not allowed'), true)).toMatchObject({ code: 'unavailable' });
    const redirected = new e('Too many Cluster redirections. Last error: e: MOVED 1584 127.0.0.1:6381');
    expect(replyCodeOf(redirected)).toBe('MOVED');
    expect(replyCodeOf(new e('UNKNOWN words in capitals prove nothing'))).toBeUndefined();
  });

  it('is not taken for one that only looks like one', () => {
    expect(replyCodeOf(new Error('READONLY'))).toBeUndefined();
    expect(replyCodeOf('READONLY')).toBeUndefined();
  });

  it.each([
    ['unavailable', 'READONLY You can not write', 'connect to the primary'],
    ['unavailable', 'LOADING Redis is loading the dataset in memory', 'wait'],
    ['unavailable', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'failover'],
    ['unavailable', 'MOVED 3999 127.0.0.1:6381', 'use a client for a Cluster'],
    ['unavailable', 'ASK 3999 127.0.0.1:6381', 'try again'],
    ['unavailable', "OOM command not allowed when used memory > 'maxmemory'.", 'raise maxmemory'],
    ['unavailable', 'NOPERM this user has no permissions', 'docs/redis.md'],
    ['unavailable', 'ERR something else', 'ERR something else'],
    ['no-quorum', 'NOREPLICAS Not enough good replicas to write.', 'start more replicas'],
    ['no-quorum', 'CLUSTERDOWN The cluster is down', 'primaries'],
  ])('means %s: %s', (code, message, advice) => {
    expect(writeFailure(reply(message), true)).toMatchObject({ code, message: expect.stringContaining(advice) });
    expect(readFailure(reply(message))).toMatchObject({ code });
  });

  it('proves nothing if the client may have sent the write before', () => {
    expect(writeFailure(reply('READONLY You can not write'), false)).toMatchObject({ code: 'unknown-outcome' });
  });
});

describe('an error of a client', () => {
  it.each([
    'Connection is closed.',
    'Command timed out',
    'Reached the max retries per request limit (which is 20). Refer to "maxRetriesPerRequest" option for details.',
    'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN',
  ])('leaves the outcome of a write open: %s', (message) => {
    expect(writeFailure(new Error(message), true)).toMatchObject({ code: 'unknown-outcome' });
    expect(readFailure(new Error(message))).toMatchObject({ code: 'unavailable' });
  });

  it('leaves the outcome open when node-redis lost the connection', () => {
    expect(writeFailure(new SocketClosedUnexpectedlyError(), true)).toMatchObject({ code: 'unknown-outcome' });
  });

  it.each(['The client is offline', "Stream isn't writeable and enableOfflineQueue options is false"])(
    'proves that a write was not sent: %s',
    (message) => {
      expect(writeFailure(new Error(message), true)).toMatchObject({ code: 'unavailable' });
      expect(writeFailure(new Error(message), false)).toMatchObject({ code: 'unknown-outcome' });
    },
  );
});

describe('the reason why there is no connection', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:6379', CHECK_ADDRESS],
    ['getaddrinfo ENOTFOUND redis.example', CHECK_ADDRESS],
    ['connect ETIMEDOUT', 'whether it uses TLS (rediss://)'],
    ['NOAUTH Authentication required.', 'give the client a password'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'check user and password'],
  ])('stands with advice: %s', (reason, advice) => {
    const told = connectionProblem(reason);
    expect(told.startsWith(`${reason}; `)).toBe(true);
    expect(told).toContain(advice);
    expect(connectionProblem(told)).toBe(told);
  });

  it('stays as it is where there is no advice', () => {
    const reason = 'the connection was lost';
    expect(connectionProblem(reason)).toBe(reason);
  });
});
