/**
 * Runs the contracts of the stores against the versions of servers in catalogue.mjs.
 *
 *   npm run test:servers                    all servers
 *   npm run test:servers -- redis 6.2       servers whose line contains one of these words
 *   npm run test:servers -- --list          the servers, without a test
 *
 * Programs are kept in the cache. Each result replaces the line of its server in the table of docs/compatibility.md, and
 * the other lines stay as they are.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { writeBetween } from '../../package/compatibility/report.mjs';
import { SERVERS, TESTS } from './catalogue.mjs';
import { executable, librariesIn } from './packages.mjs';
import { linesIn, tableOf } from './table.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const LONGEST = 20 * 60_000;
const PAGE = join(root, 'docs/compatibility.md');
const MARKS = ['<!-- npm run test:servers writes what follows, until its end mark. -->', '<!-- end of servers -->'];

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const lineOf = ({ name, from }) => `${name} from ${from.text}`;
const chosen = SERVERS.filter(
  (server) => words.length === 0 || words.some((word) => lineOf(server).toLowerCase().includes(word.toLowerCase())),
);

if (process.argv.includes('--list')) for (const server of chosen) console.log(lineOf(server));
else process.exitCode = (await testAll()) ? 0 : 1;

async function testAll() {
  let isGreen = true;
  for (const server of chosen) {
    const result = await testOn(server);
    console.log(sentenceOf(server, result));
    isGreen &&= result.passed > 0 && result.failed === 0;
    // Read for each server: another run may have written meanwhile.
    const lines = linesIn(await readFile(PAGE, 'utf8'), MARKS);
    await writeBetween(PAGE, MARKS, tableOf(SERVERS, lines, { server, result }));
  }
  return isGreen;
}

/** @returns version, date, numbers of tests; `problem` if none could run */
async function testOn(server) {
  const date = new Date().toISOString().slice(0, 10);
  try {
    const folder = await server.from.fetch();
    const program = server.program && (await executable(folder, server.program));
    const version = server.from.version ?? (await versionOf(program, folder));
    return { version, date, ...(await runTests(server, { program, folder, version })) };
  } catch (error) {
    return { version: '?', date, passed: 0, failed: 0, problem: (error.shortMessage ?? String(error)).split('\n')[0] };
  }
}

async function versionOf(program, folder) {
  const { stdout } = await execa(program, ['--version'], { env: environment(folder) });
  return /(?:v=|PostgreSQL\) |PgBouncer )(\d[\d.]*)/.exec(stdout)?.[1] ?? '?';
}

async function runTests({ kind }, { program, folder, version }) {
  const { files, names, variable } = TESTS[kind];
  const report = join(tmpdir(), `gatekeeper-servers-${randomUUID()}.json`);
  const jest = [
    'node_modules/jest/bin/jest.js',
    '--roots=verification/servers',
    '--maxWorkers=1',
    '--forceExit',
    '--json',
    `--outputFile=${report}`,
    '--testMatch=**/*.(spec|servers).ts',
    `--testNamePattern=${names}`,
    ...files,
  ];
  const value = { POSTGRES_PROGRAMS: program && dirname(program), HAZELCAST_VERSION: version }[variable] ?? program;
  // With CI nothing is skipped for lack of a tool.
  const env = { ...environment(folder), CI: 'true', ...(variable && { [variable]: value }) };
  const { all } = await execa('node', jest, { cwd: root, env, all: true, reject: false, timeout: LONGEST });
  try {
    return { ...countsIn(JSON.parse(await readFile(report, 'utf8'))), output: all };
  } finally {
    await rm(report, { force: true });
  }
}

/** Tests of other kinds of servers in the same files count as pending. */
function countsIn({ numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults }) {
  const failures = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
  return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites, failures };
}

/** Libraries that came along with the program. */
function environment(folder) {
  return folder === undefined ? {} : { LD_LIBRARY_PATH: librariesIn(folder) };
}

function sentenceOf(server, { version, passed, failed, problem, failures = [], output = '' }) {
  const what = `${server.name} ${version} (${server.from.text})`;
  if (problem) return `not tested: ${what}: ${problem}`;
  if (failed === 0) return `${what}: ${passed} passed`;
  return [`${what}: ${passed} passed, ${failed} failed`, ...failures.map((name) => `  ${name}`), output].join('\n');
}
