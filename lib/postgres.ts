/**
 * The store and the archive in PostgreSQL. Needs the package `pg`.
 *
 * @module nestjs-gatekeeper/postgres
 */

export * from './definitions/archive/postgres/index.js';
export * from './stores/postgres/index.js';
