/**
 * Packs the package as it would be published, installs the tarball into an empty folder, and type-checks and runs it
 * from an ESM project and from a CommonJS one. No skipLibCheck: the published types must hold by themselves. Then the store
 * of docs/stores.md, as a package of a third party would have it, runs the contract with `node --test`.
 */
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { dependenciesOf, growth } from './size.mjs';
import { startCosts } from './start.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'pack-check-'));
const KINDS = ['dist', 'dist-cjs'];
const ENTRIES = ['index', 'postgres', 'redis', 'opentelemetry', 'testing'];
/** Sources, tests, source maps and reports stay in the repository. */
const NOT_WANTED =
  /^(lib|test|verification|bench|sample-app|shared)\/|\.(map|spec\.\w+)$|^docs\/(comparison|compatibility|fault-report)\.md$/;
const inFolder = execa({ cwd: folder, stdout: 'inherit', stderr: 'inherit' });

try {
  await execa({ cwd: root, stdout: 'inherit', stderr: 'inherit' })`npx publint --strict`;
  const { stdout } = await execa({ cwd: root })`npm pack --json --pack-destination ${folder}`;
  const [{ filename, files, size, unpackedSize }] = JSON.parse(stdout);
  assertContents(files.map(({ path }) => path));
  await execa({ cwd: root, stdout: 'inherit', stderr: 'inherit' })`npx attw ${join(folder, filename)} --format ascii`;
  await install(filename);
  for (const kind of KINDS) await assertClasses(join(folder, 'node_modules/nestjs-gatekeeper', kind));
  const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const dependencies = dependenciesOf(packages, 'nestjs-gatekeeper');
  assertSize({ files: files.length, packed: size, unpacked: unpackedSize, dependencies: dependencies.length });
  console.log(`${filename}: ${files.length} files, ${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked`);
  console.log(
    `It brings ${dependencies.length} packages: ${dependencies.map((path) => path.replace(/.*node_modules\//, '')).join(', ')}`,
  );
  const costs = await startCosts(folder);
  console.log(
    `Import after Nest: ${costs.import.toFixed(0)} ms of CPU, then ${costs.resident.toFixed(0)} MB resident; a command: ${costs.command} ms of CPU`,
  );
  for (const project of ['esm', 'cjs']) {
    await cp(join(root, 'tools/pack-check', project), join(folder, project), { recursive: true });
    for (const shared of ['app.ts', 'tsconfig.json']) {
      await cp(join(root, 'tools/pack-check', shared), join(folder, project, shared));
    }
    console.log(`${project}:`);
    await inFolder`npx tsc -p ${project}`;
    await inFolder`node --no-warnings ${project}/out/app.js`;
  }
  await checkContract();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The contract must pass a sound store, and fail one that writes without a comparison. */
async function checkContract() {
  const third = join(folder, 'third-party');
  await cp(join(root, 'tools/pack-check/esm'), third, { recursive: true });
  await cp(join(root, 'examples/store'), third, { recursive: true });
  const { compilerOptions } = JSON.parse(await readFile(join(root, 'tools/pack-check/tsconfig.json'), 'utf8'));
  await writeFile(join(third, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await inFolder`npx tsc -p third-party`;
  const test = execa({ cwd: third, reject: false, env: { NODE_OPTIONS: '' } });

  const sound = await test`node --test --test-reporter=tap out/shelf-driver.test.js`;
  if (sound.exitCode !== 0) throw new Error(`the contract fails a sound store:\n${sound.stdout}`);
  console.log(`the contract passes a third party's store: ${countOf('pass', sound)} tests`);

  await removeFrom(join(third, 'out/shelf.js'), /if \(texts\.get\(key\) !== expected\)\s+return false;/);
  const broken = await test`node --test --test-reporter=tap out/shelf-driver.test.js`;
  const finding = /^\s*not ok \d+ - lets exactly one of many concurrent writers win/m;
  if (broken.exitCode === 0 || !finding.test(broken.stdout)) throw new Error('the contract passes a broken store');
  console.log(`the contract fails the same store without its comparison: ${countOf('fail', broken)} tests`);
}

/** Removes the text that matches. */
async function removeFrom(file, pattern) {
  const text = await readFile(file, 'utf8');
  if (!pattern.test(text)) throw new Error(`${file} has no ${pattern}`);
  await writeFile(file, text.replace(pattern, ''));
}

function countOf(result, { stdout }) {
  return new RegExp(`^# ${result} (\\d+)$`, 'm').exec(stdout)?.[1];
}

/** With the versions of the peers that this project is tested with. */
async function install(tarball) {
  const { peerDependencies, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const wanted = [...Object.keys(peerDependencies), 'typescript', '@types/node'];
  const dependencies = Object.fromEntries(
    wanted.map((name) => [name, devDependencies[name] ?? peerDependencies[name]]),
  );
  dependencies['nestjs-gatekeeper'] = `file:${tarball}`;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }, null, 2));
  await inFolder`npm install --no-audit --no-fund --prefer-offline --loglevel=error`;
}

function assertSize(figures) {
  const faults = growth(figures);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function assertContents(paths) {
  const needed = [
    'LICENSE',
    'README.md',
    'docs/guarantees.md',
    'docs/alert-rules.yaml',
    'docs/grafana-dashboard.json',
    'docs/stores.md',
    ...KINDS.flatMap((kind) => ENTRIES.flatMap((name) => [`${kind}/${name}.js`, `${kind}/${name}.d.ts`])),
    'dist/cli.js',
    'dist/LICENSES.txt',
    'dist-cjs/package.json',
    'load-cron.cjs',
    'load-pg.cjs',
    'load-redis-clients.cjs',
    'load-console-page.cjs',
    'load-hazelcast-client.cjs',
    'package-root.cjs',
    'dist/console-page.cjs',
    'dist/console-page.LICENSES.txt',
    'tools/hazelcast/pom.xml',
    'tools/hazelcast/hazelcast.yaml',
    'tools/hazelcast/hazelcast-majority.yaml',
  ];
  const missing = needed.filter((path) => !paths.includes(path));
  const surplus = paths.filter((path) => NOT_WANTED.test(path));
  if (missing.length + surplus.length > 0) throw new Error(`missing: ${missing}; not wanted: ${surplus}`);
}

async function assertClasses(folder) {
  await assertNothingTwice(folder);
  for (const entry of ENTRIES) assertNames(await import(join(folder, `${entry}.js`)));
}

/** A bundler may rename classes, but errors and Nest's messages show their names. */
function assertNames(exported) {
  const renamed = Object.entries(exported).filter(
    ([name, value]) => /^[A-Z][a-z]/.test(name) && typeof value === 'function' && value.name !== name,
  );
  if (renamed.length > 0)
    throw new Error(`not as they are exported: ${renamed.map(([name, { name: own }]) => `${name}: ${own}`)}`);
}

/** Two chunks with one source would have two of each of its classes, and `instanceof` would not hold between them. */
async function assertNothingTwice(folder) {
  const chunks = (await readdir(folder, { recursive: true })).filter((path) => /^(chunks\/)?[^/]+\.js$/.test(path));
  const seen = new Map();
  for (const chunk of chunks) {
    const text = await readFile(join(folder, chunk), 'utf8');
    for (const [, source] of text.matchAll(/^\/\/ ((?:lib|node_modules)\/\S+)$/gm)) {
      if (seen.has(source)) throw new Error(`${source} is in ${seen.get(source)} and in ${chunk}`);
      seen.set(source, chunk);
    }
  }
  if (seen.size < 100) throw new Error(`${folder}: the chunks do not name their sources`);
}
