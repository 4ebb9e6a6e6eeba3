/** Removes the former build: names of chunks change with the sources, and a chunk that is no longer made must go. */
import { rm } from 'node:fs/promises';
import { COMMONJS, ES_MODULES } from './entries.mjs';

for (const folder of [ES_MODULES, COMMONJS]) await rm(folder, { recursive: true, force: true });
