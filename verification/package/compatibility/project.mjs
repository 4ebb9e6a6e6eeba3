/** Writes the application of one row: the same sources, with the settings of its Nest, module kind and test runner. */
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAJORS } from './rows.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param folder kept from run to run, for what npm installed there
 * @param tarball the packed package
 */
export async function writeProject(folder, row, tarball) {
  for (const part of ['src', 'test', 'out']) await rm(join(folder, part), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(HERE, 'app'), folder, { recursive: true });
  const json = (name, content) => writeFile(join(folder, name), `${JSON.stringify(content, null, 2)}\n`);
  await json('package.json', manifest(row, tarball));
  await json('tsconfig.json', compilerSettings(row));
  await writeFile(join(folder, 'src/platform.ts'), platform(row));
  if (row.runner) {
    const [settings, name] = runnerSettings(row);
    await cp(join(HERE, 'settings', settings), join(folder, name));
  }
  if (row.module === 'CommonJS') await withoutExtensions(folder);
}

function manifest(row, tarball) {
  const { schedule, terminus, typescript, reflectMetadata } = { ...MAJORS[row.nest], ...row };
  const nest = `^${row.nest}.0.0`;
  return {
    private: true,
    type: row.module === 'ESM' ? 'module' : 'commonjs',
    dependencies: {
      '@nestjs/common': nest,
      '@nestjs/core': nest,
      [`@nestjs/platform-${row.platform.toLowerCase()}`]: nest,
      '@nestjs/schedule': schedule,
      '@nestjs/terminus': terminus,
      '@nestjs/testing': nest,
      'nestjs-gatekeeper': `file:${tarball}`,
      'reflect-metadata': reflectMetadata,
      rxjs: '^7.8.1',
      typescript,
      '@types/node': '^20.0.0',
      ...runnerPackages(row),
    },
  };
}

function runnerPackages({ runner, nest, module, transform }) {
  if (!runner) return {};
  if (runner === 'Vitest') return { vitest: '^4.1.0', vite: '^8.0.0' };
  const major = nest === 10 ? 29 : 30;
  const jest = { jest: `^${major}.0.0`, '@types/jest': `^${major}.0.0` };
  const isSwc = transform === 'swc' || module === 'ESM';
  return { ...jest, ...(isSwc ? { '@swc/core': '^1.10.0', '@swc/jest': '^0.2.36' } : { 'ts-jest': '^29.4.0' }) };
}

function compilerSettings(row) {
  const { resolution } = { ...MAJORS[row.nest], ...row };
  const isOld = resolution === 'node10' && row.module === 'CommonJS';
  const modern = resolution === 'node10' ? 'nodenext' : resolution;
  return {
    compilerOptions: {
      // Nest 10's starter has neither moduleResolution nor esModuleInterop.
      ...(isOld ? { module: 'commonjs' } : { module: modern, moduleResolution: modern, esModuleInterop: true }),
      target: 'es2022',
      strict: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      isolatedModules: !isOld,
      skipLibCheck: true,
      rootDir: 'src',
      outDir: 'out',
      types: ['node', ...(row.runner === 'Jest' ? ['jest'] : [])],
    },
    include: ['src'],
  };
}

function platform({ platform: name }) {
  const adapter = `${name}Adapter`;
  return [
    `import { ${adapter} } from '@nestjs/platform-${name.toLowerCase()}';`,
    '',
    // Nest declares two overloads, the first for Express.
    `export const createAdapter = (): any => new ${adapter}();`,
    '',
  ].join('\n');
}

/** The file that docs/testing.md quotes, and its name in the application. */
function runnerSettings({ runner, module, transform }) {
  if (runner === 'Vitest') return ['vitest.config.mts', 'vitest.config.mts'];
  if (module === 'ESM') return ['jest.esm.json', 'jest.config.json'];
  return [transform === 'swc' ? 'jest.commonjs-swc.json' : 'jest.commonjs.json', 'jest.config.json'];
}

/** CommonJS sources import their neighbours without an extension. */
async function withoutExtensions(folder) {
  for (const part of ['src', 'test']) {
    for (const name of await readdir(join(folder, part))) {
      const file = join(folder, part, name);
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replaceAll(/(from '\.{1,2}\/[^']+)\.js'/g, "$1'"));
    }
  }
}
