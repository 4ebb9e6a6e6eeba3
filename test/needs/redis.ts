import { describeUnless } from './unless.js';
import { lackOf } from './programs.js';

/** Why no Redis can be started here; undefined: one can. */
export const lackOfRedis = await lackOf('redis-server');

/** Tests that start a Redis. */
export const describeOnRedis = describeUnless(lackOfRedis);
