import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Parser from '@actions/workflow-parser';
import { build } from 'esbuild';
import { parse } from 'yaml';
import { ROOT } from '../../test/docs/snippets.js';

interface Step {
  readonly run?: string;
  readonly uses?: string;
}

interface Job {
  readonly needs?: string;
  readonly permissions?: Record<string, string>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions: Record<string, string>;
  readonly jobs: Record<string, Job>;
}

const read = (name: string) => readFileSync(`${ROOT}.github/workflows/${name}.yml`, 'utf8');
const commandsOf = ({ steps }: Job) => steps.flatMap(({ run }) => run ?? []);

/** GitHub's own parser, as one file: it imports JSON in a way that Node refuses. */
let parser: typeof Parser;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(ROOT, 'node_modules/.cache-workflow-parser-'));
  const outfile = join(folder, 'parser.cjs');
  const entryPoints = ['@actions/workflow-parser'];
  await build({ entryPoints, outfile, absWorkingDir: ROOT, bundle: true, platform: 'node', format: 'cjs' });
  parser = ((await import(pathToFileURL(outfile).href)) as { default: typeof Parser }).default;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Faults that GitHub's own parser finds, with its schema of workflows and in expressions. */
async function faultsOf(content: string): Promise<string[]> {
  const { NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow } = parser;
  const { context, value } = parseWorkflow({ name: 'workflow.yml', content }, new NoOperationTraceWriter());
  const errors = context.errors.getErrors().map(({ message }) => message);
  if (!value || errors.length > 0) return errors;
  const template = await convertWorkflowTemplate(context, value);
  return (template.errors ?? []).map(({ Message }) => Message);
}

describe('The workflows of GitHub', () => {
  it.each(['ci', 'release'])('%s fits the schema', async (name) => {
    expect(await faultsOf(read(name))).toEqual([]);
  });

  it('are found to be wrong if they are', async () => {
    const wrong = read('ci').replace('runs-on:', 'run-on:');
    expect(await faultsOf(wrong)).toEqual(
      expect.arrayContaining([expect.stringContaining("Unexpected value 'run-on'")]),
    );
    expect(await faultsOf(read('release').replace('needs: test', 'needs: tests'))).not.toEqual([]);
  });

  it('run .ci/run, with no right to write', () => {
    const { jobs, permissions } = parse(read('ci')) as Workflow;
    expect(permissions).toEqual({ contents: 'read' });
    expect(Object.values(jobs).flatMap(commandsOf)).toEqual(['.ci/run']);
  });

  it('publish a tested version with its provenance, and only there may get a token of identity', () => {
    const { jobs, permissions } = parse(read('release')) as Workflow;
    const { test, publish } = jobs as { test: Job; publish: Job };
    expect(permissions).toEqual({ contents: 'read' });
    expect(commandsOf(test)).toEqual(['.ci/run']);
    expect(publish.needs).toBe('test');
    expect(publish.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    expect(commandsOf(publish).at(-1)).toMatch(/^npm publish --provenance\b/);
    expect(commandsOf(publish)).toContain('npm run check:pack');
  });
});
