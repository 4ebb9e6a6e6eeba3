/** How tests compile TypeScript: legacy decorators and their metadata, as in every Nest application; modules stay ESM. */
export default {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: true,
  inlineSourcesContent: false,
};
