import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as gatekeeperExports from 'nestjs-gatekeeper';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of a page. */
export interface Snippet {
  readonly page: string;
  /** The line of the page on which its code begins. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** It quotes a file of this project, which is compiled and tested where it stands. */
  readonly isQuote: boolean;
}

const FENCE = /^(?<quote><!-- \S+ -->\n\n)?```(?<language>\w+)\n(?<code>[\s\S]*?)^```$/gm;

/** Names that every snippet may use; a snippet without imports of its own also has the values that the package exports. */
const AMBIENT = `
  const gatekeeper: import('nestjs-gatekeeper').GatekeeperService;
  const store: import('nestjs-gatekeeper').StoreDefinition;
  const pool: import('nestjs-gatekeeper/postgres').PgPool;
  const permitId: string;
  ${Object.keys(gatekeeperExports)
    .map((name) => `const ${name}: typeof import('nestjs-gatekeeper').${name};`)
    .join('\n  ')}`;

/** The pages for contributors. */
export const CONTRIBUTORS_PAGES = ['CONTRIBUTING.md', 'test/README.md'];

/** The pages that a user reads. */
export function pages(): string[] {
  const docs = readdirSync(`${ROOT}docs`).filter((name) => name.endsWith('.md'));
  return ['README.md', 'sample-app/README.md', ...docs.map((name) => `docs/${name}`)];
}

export function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(ROOT + page, 'utf8');
  return [...text.matchAll(FENCE)].map(({ index, groups }) => {
    const { quote = '', language = '', code = '' } = groups!;
    const line = text.slice(0, index + quote.length).split('\n').length + 1;
    return { page, line, language, code, isQuote: quote !== '' };
  });
}

/** A function like {@link compile}, for the tests of a file: after them nothing of the library's trees stays in memory. */
export function useCompiler(): typeof compile {
  afterAll(() => shared.clear());
  return compile;
}

/**
 * Compiles all of them in one program under `strict`, each as a module of its own.
 *
 * @returns faults, by page and line
 */
function compile(snippets: readonly Snippet[]): string[] {
  const files = new Map([[`${ROOT}ambient.d.ts`, `export {};\ndeclare global {${AMBIENT}\n}\n`]]);
  const pathOf = (index: number) => `${ROOT}snippet-${index}.ts`;
  for (const [index, { code }] of snippets.entries()) files.set(pathOf(index), `${code}export {};\n`);
  const program = programOf(files);
  return snippets.flatMap((snippet, index) => faultsIn(snippet, program.getSourceFile(pathOf(index))!, program));
}

/** Files of the library and of packages, which all programs share: most of the time goes into reading them. */
const shared = new Map<string, ts.SourceFile | undefined>();

function programOf(files: ReadonlyMap<string, string>): ts.Program {
  const options = optionsOf();
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, target, ...rest) => {
    if (files.has(path)) return ts.createSourceFile(path, files.get(path)!, target);
    if (!shared.has(path)) shared.set(path, getSourceFile(path, target, ...rest));
    return shared.get(path);
  };
  return ts.createProgram([...files.keys()], options, host);
}

function faultsIn(snippet: Snippet, source: ts.SourceFile, program: ts.Program): string[] {
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((diagnostic) => {
    const { line } = source.getLineAndCharacterOfPosition(diagnostic.start ?? 0);
    return `${snippet.page}:${snippet.line + line}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`;
  });
}

function optionsOf(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return { ...options, noUnusedLocals: false, noUnusedParameters: false };
}
