import compiler from '../quick-globals.transform.js';

/** Compiles as all tests are compiled, but for the sources that the environment variable SEEDED_SOURCES stands in for. */
export default {
  createTransformer(options) {
    const seeded = JSON.parse(process.env.SEEDED_SOURCES ?? '{}');
    const transformer = compiler.createTransformer(options);
    const textOf = (source, path) => seeded[path] ?? source;
    return {
      ...transformer,
      process: (source, path, request) => transformer.process(textOf(source, path), path, request),
      processAsync: (source, path, request) => transformer.processAsync(textOf(source, path), path, request),
      // By the text that is compiled: what was compiled with a bug must not be taken for the source.
      getCacheKey: (source, path, request) => transformer.getCacheKey(textOf(source, path), path, request),
    };
  },
};
