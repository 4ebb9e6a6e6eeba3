/**
 * The folder of this package. CommonJS on purpose: a `__dirname` works in Node, Jest and Vitest alike, while
 * `import.meta` is a syntax error wherever a module is run as CommonJS.
 */
module.exports = __dirname;
