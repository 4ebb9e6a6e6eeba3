/**
 * The store and the archive of runs in PostgreSQL. Needs the package `pg`.
 *
 * @module nestjs-gatekeeper/postgres
 */

export * from './operate/activity/archive/postgres/index.js';
export * from './stores/postgres/index.js';
