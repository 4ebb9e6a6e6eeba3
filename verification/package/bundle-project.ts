import { cp, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { execa } from 'execa';
import webpack, { type Configuration } from 'webpack';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const APPLICATION = fileURLToPath(new URL('bundled/main.ts', import.meta.url));

/** Packages that others look for, and go on without: the list in docs/bundling.md. */
const LEFT_OUT = await documentedList();

async function documentedList(): Promise<string[]> {
  const text = await readFile(join(ROOT, 'docs/bundling.md'), 'utf8');
  const [, list = ''] = /^module\.exports = \[$([^\]]*)^\];$/m.exec(text) ?? [];
  return [...list.matchAll(/^ {2}'([^']+)',$/gm)].map(([, name]) => name!);
}

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: true,
    types: [],
    outDir: 'dist',
    rootDir: 'src',
  },
  include: ['src'],
};

/** A project with the packed package, and the other packages of this one. @returns its folder */
export async function projectWith(folder: string): Promise<string> {
  const project = join(folder, 'project');
  await installPacked(join(project, 'node_modules'));
  await mkdir(join(project, 'src'));
  await writeFile(join(project, 'src/main.ts'), await readFile(APPLICATION, 'utf8'));
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  return project;
}

/** Puts the package into a folder as npm would, from its tarball. All other packages are links. */
export async function installPacked(modules: string): Promise<void> {
  const packed = join(modules, 'nestjs-gatekeeper');
  await mkdir(packed, { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  const { stdout } = await execa({ cwd: ROOT })`npm pack --json --pack-destination ${dirname(modules)}`;
  const [{ filename }] = JSON.parse(stdout);
  await execa`tar -xzf ${join(dirname(modules), filename)} --strip-components=1 -C ${packed}`;
}

/** In parts: the compiler of tests would put this file's own address in its place. */
const ADDRESS = ['import', 'meta', 'url'].join('.');
const DIRECTORY = ['import', 'meta', 'dirname'].join('.');

/** CommonJS packages in an ES module need `require`, as docs/bundling.md says. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(${ADDRESS});`;

/** CommonJS files have no address of their own, which ES modules such as `@nestjs/terminus` read, as docs/bundling.md says. */
const URL_OF_BUNDLE = `const bundleUrl = require('node:url').pathToFileURL(__filename).href;`;

const FORMATS = {
  esm: { outfile: 'app.mjs', banner: { js: REQUIRE } },
  cjs: {
    outfile: 'app.cjs',
    banner: { js: URL_OF_BUNDLE },
    define: { [ADDRESS]: 'bundleUrl', [DIRECTORY]: '__dirname' },
  },
} as const;

export const byEsbuild = (format: 'esm' | 'cjs') => async (project: string, output: string) => {
  const outfile = join(output, FORMATS[format].outfile);
  await build({
    entryPoints: [join(project, 'src/main.ts')],
    absWorkingDir: project,
    bundle: true,
    minify: true,
    platform: 'node',
    format,
    ...FORMATS[format],
    outfile,
    external: LEFT_OUT.flatMap((name) => [name, `${name}/*`]),
    logLevel: 'error',
  });
  return outfile;
};

const isLeftOut = (name = '') => LEFT_OUT.some((each) => name === each || name.startsWith(`${each}/`));

/** Nest leaves all packages out of its bundle by default. Here they are in it. */
const NEST_WEBPACK_CONFIG = `
  const { DefinePlugin } = require('webpack');
  const isLeftOut = (name) => ${JSON.stringify(LEFT_OUT)}.some((each) => name === each || name.startsWith(each + '/'));
  module.exports = (options) => ({
    ...options,
    externals: [({ request }, done) => (isLeftOut(request) ? done(null, 'commonjs ' + request) : done())],
    optimization: { ...options.optimization, minimize: true },
    plugins: [
      ...options.plugins.filter(({ constructor }) => constructor.name !== 'ForkTsCheckerWebpackPlugin'),
      new DefinePlugin({ '${DIRECTORY}': '__dirname' }),
    ],
  });`;

export async function byNest(project: string, output: string): Promise<string> {
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true }));
  await writeFile(join(project, 'nest-cli.json'), JSON.stringify({ sourceRoot: 'src' }));
  await writeFile(join(project, 'webpack.config.js'), NEST_WEBPACK_CONFIG);
  const nest = join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');
  await execa(process.execPath, [nest, 'build', '--webpack'], { cwd: project, env: { NODE_OPTIONS: '' } });
  // webpack makes a file of its own of what is loaded later.
  await cp(join(project, 'dist'), output, { recursive: true });
  return join(output, 'main.js');
}

/** `nest build --webpack` makes no ES modules. */
export async function byWebpack(project: string, output: string): Promise<string> {
  const compiler = webpack({
    entry: join(project, 'src/main.ts'),
    context: project,
    target: 'node',
    mode: 'production',
    devtool: false,
    experiments: { outputModule: true },
    output: { path: output, filename: 'app.mjs', module: true, chunkFormat: 'module' },
    module: { rules: [{ test: /\.ts$/, loader: 'ts-loader', options: { transpileOnly: true } }] },
    resolve: { extensions: ['.ts', '.js'] },
    resolveLoader: { modules: [join(ROOT, 'node_modules')] },
    externals: [
      ({ request }: { request?: string }, done: (error?: null, result?: string) => void) =>
        isLeftOut(request) ? done(null, `node-commonjs ${request}`) : done(),
    ],
  } as Configuration);
  const stats = await promisify(compiler.run.bind(compiler))();
  if (stats?.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  return join(output, 'app.mjs');
}
