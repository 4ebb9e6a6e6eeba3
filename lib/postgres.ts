/**
 * The store and the archives in PostgreSQL. Needs the package `pg`.
 *
 * @module nestjs-gatekeeper/postgres
 */

export * from './operate/activity/archive/postgres/index.js';
export * from './operate/definitions/archive/postgres/index.js';
export * from './stores/postgres/index.js';
