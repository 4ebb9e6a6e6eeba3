import { describeUnless } from '../../test/support/unless.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { lackOf } from './programs.js';

/** Why no Redis can be started here; undefined: one can. */
export const lackOfRedis = await lackOf(REDIS_SERVER);

/** Tests that start a Redis. */
export const describeOnRedis = describeUnless(lackOfRedis);
