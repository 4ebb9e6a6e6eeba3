/** An error of pg, of a socket, or of PostgreSQL itself. */
export interface PgError extends Error {
  /** Code of Node, or the five characters of PostgreSQL. */
  readonly code?: string;
  /** "ERROR", "FATAL" or "PANIC", if the server sent the error. */
  readonly severity?: string;
}

const LOOK_AT_ADDRESS = 'check host and port in connectionString, and that the server runs';
const LOOK_AT_USER = 'check user and password in connectionString';
const LOOK_AT_CA =
  'give the certificate of the authority that signed it: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem in connectionString';
const TAKE_TLS =
  'the server wants TLS: add ?sslmode=verify-full to connectionString, or check the rules in its pg_hba.conf';

/** Advice by error code, of Node or of PostgreSQL (appendix A of its manual), about the connection. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: LOOK_AT_ADDRESS,
  EAI_AGAIN: LOOK_AT_ADDRESS,
  ECONNREFUSED: LOOK_AT_ADDRESS,
  EHOSTUNREACH: LOOK_AT_ADDRESS,
  ENETUNREACH: LOOK_AT_ADDRESS,
  ETIMEDOUT: LOOK_AT_ADDRESS,
  ENOENT: LOOK_AT_ADDRESS,
  '28P01': LOOK_AT_USER,
  '28000': `${LOOK_AT_USER}, and the rules in pg_hba.conf of the server`,
  SELF_SIGNED_CERT_IN_CHAIN: LOOK_AT_CA,
  DEPTH_ZERO_SELF_SIGNED_CERT: LOOK_AT_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: LOOK_AT_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: LOOK_AT_CA,
  ERR_TLS_CERT_ALTNAME_INVALID: 'use the host name of the certificate in connectionString',
  '3D000': 'check the database in connectionString, or create it',
};

/**
 * The reason of an error, with advice; it contains no password.
 *
 * @param advice more advice, by error code
 */
export function reasonOf(error: PgError, advice: Readonly<Record<string, string>> = {}): string {
  const code = error.code ?? '';
  const help = isWithoutTls(error) ? TAKE_TLS : (ADVICE[code] ?? advice[code]);
  return `${sentenceOf(error)}${help ? `; ${help}` : ''}`;
}

/** The server's rules ask for encryption. Their code is that of wrong passwords, too. */
function isWithoutTls({ code, message }: PgError): boolean {
  return code === '28000' && message.endsWith(', no encryption');
}

/** Node's error has no message if a host has several addresses and none answers. */
function sentenceOf({ message, code }: PgError): string {
  // pg's message if the server asks for a password and none is given.
  if (message.startsWith('SASL') && message.includes('must be a string'))
    return 'the server asks for a password, and there is no password in connectionString';
  return message || code || 'it failed without a reason';
}
