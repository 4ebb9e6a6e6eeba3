/** Loads the optional peers `ioredis` and `redis`, each if it is installed. Everything else is as in load-pg.cjs. */
let ioredis;
let nodeRedis;

exports.loadIoredis = () => (ioredis ??= findIoredis());
exports.loadNodeRedis = () => (nodeRedis ??= findNodeRedis());

function findIoredis() {
  try {
    return require('ioredis');
  } catch (error) {
    return undefinedIfMissing(error);
  }
}

function findNodeRedis() {
  try {
    return require('redis');
  } catch (error) {
    return undefinedIfMissing(error);
  }
}

function undefinedIfMissing(error) {
  if (error.code === 'MODULE_NOT_FOUND') return undefined;
  throw error;
}
