import { type PgError, reasonOf } from '../../../lib/stores/postgres/failures.js';

const error = (code: string, message: string): PgError => Object.assign(new Error(message), { code });

describe('advice about a connection', () => {
  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain', 'sslrootcert='],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', 'sslrootcert='],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      "Hostname/IP does not match certificate's altnames",
      'host name of the certificate',
    ],
    ['28000', 'no pg_hba.conf entry for host "::1", user "app", database "app", no encryption', 'sslmode=verify-full'],
    ['28000', 'role "app" does not exist', 'user and password'],
  ])('says what to change (%s, %s)', (code, message, advice) => {
    const reason = reasonOf(error(code, message));
    expect(reason.startsWith(`${message}; `)).toBe(true);
    expect(reason).toContain(advice);
  });
});
