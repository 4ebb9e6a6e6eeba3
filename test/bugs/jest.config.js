import config from '../../jest.config.js';
import swc from '../swc.options.js';

/** As for all tests, with the sources that SEEDED_SOURCES stands in for. */
export default {
  ...config,
  rootDir: '../..',
  transform: { ...config.transform, '^.+\\.ts$': ['<rootDir>/test/bugs/seeded-transform.js', swc] },
  reporters: ['default'],
};
