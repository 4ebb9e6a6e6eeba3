import { execa } from 'execa';
import { compiledProgram } from '../support/compiled-program.js';

/** As if the package were not installed: every import of it fails. */
const HOOK = `export function resolve(specifier, context, next) {
  if (specifier.startsWith('@opentelemetry/')) throw new Error("Cannot find package '" + specifier + "'");
  return next(specifier, context);
}`;

const dataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

it('works without @opentelemetry/api, which only its own entry point needs', async () => {
  const program = `
    const { Gatekeeper, memory, parseGatekeeperOptions } = await import(${JSON.stringify(compiledProgram('lib/index.ts'))});
    const log = () => undefined;
    const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store: memory(), heartbeat: 0 }), { log, warn: log, error: log, debug: log });
    await gatekeeper.start();
    const run = await gatekeeper.run('job', ({ token }) => token > 0, { duration: '5s' });
    await gatekeeper.close();
    const entry = await import(${JSON.stringify(compiledProgram('lib/telemetry/index.ts'))}).catch(({ message }) => message);
    console.log(JSON.stringify({ run, entry }));`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(HOOK))});`;
  const args = ['--import', dataUrl(register), '--input-type=module', '--eval', program];
  const { stdout } = await execa(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual({
    run: { executed: true, value: true },
    entry: "Cannot find package '@opentelemetry/api'",
  });
});
