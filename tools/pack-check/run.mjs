/**
 * Packs the package as it would be published, installs the tarball into an empty folder, and type-checks and runs it
 * from an ESM project and from a CommonJS one. No skipLibCheck: the published types must hold by themselves.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'pack-check-'));
const inFolder = execa({ cwd: folder, stdout: 'inherit', stderr: 'inherit' });

try {
  await execa({ cwd: root, stdout: 'inherit', stderr: 'inherit' })`npx publint --strict`;
  const { stdout } = await execa({ cwd: root })`npm pack --json --pack-destination ${folder}`;
  const [{ filename, files, size }] = JSON.parse(stdout);
  assertContents(files.map(({ path }) => path));
  console.log(`${filename}: ${files.length} files, ${Math.round(size / 1024)} kB`);
  await install(filename);
  for (const project of ['esm', 'cjs']) {
    await cp(join(root, 'tools/pack-check', project), join(folder, project), { recursive: true });
    for (const shared of ['app.ts', 'tsconfig.json']) {
      await cp(join(root, 'tools/pack-check', shared), join(folder, project, shared));
    }
    console.log(`${project}:`);
    await inFolder`npx tsc -p ${project}`;
    await inFolder`node --no-warnings ${project}/out/app.js`;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
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

function assertContents(paths) {
  const needed = [
    'LICENSE',
    'README.md',
    'docs/guarantees.md',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/testing/index.js',
    'dist/postgres.js',
    'dist-cjs/postgres.js',
    'dist/telemetry/index.js',
    'dist-cjs/telemetry/index.js',
    'docs/alert-rules.yaml',
    'docs/grafana-dashboard.json',
    'docs/stores.md',
    'dist/cli/main.js',
    'dist-cjs/index.js',
    'dist-cjs/package.json',
    'load-cron.cjs',
    'load-hazelcast-client.cjs',
    'package-root.cjs',
    'dist/console/web/index.html',
    'dist/console/web/manifest.json',
    'dist/console/web/LICENSES.txt',
    'tools/hazelcast/pom.xml',
    'tools/hazelcast/hazelcast.yaml',
    'tools/hazelcast/hazelcast-majority.yaml',
  ];
  const missing = needed.filter((path) => !paths.includes(path));
  const surplus = paths.filter((path) => /^(lib|test|bench|sample-app|shared)\//.test(path));
  if (missing.length + surplus.length > 0) throw new Error(`missing: ${missing}; not wanted: ${surplus}`);
}
