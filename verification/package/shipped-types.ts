import { relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../test/docs/snippets.js';

const DIST = `${ROOT}dist-cjs/`;
const ENTRIES = ['index', 'testing', 'postgres', 'redis', 'opentelemetry'].map((entry) => `${DIST}${entry}.d.ts`);

/** The declaration files that an application's compiler reads, as `npm run build` makes them. */
export class ShippedTypes {
  readonly #program = ts.createProgram(ENTRIES, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ['node'],
  });
  readonly #checker = this.#program.getTypeChecker();

  /** The declaration files that are reachable from the package's entries. */
  get files(): { readonly path: string; readonly text: string }[] {
    return this.#sources.map(({ fileName, text }) => ({ path: relative(DIST, fileName), text }));
  }

  /** `file Class` for each exported class that is reachable from the package's entries. */
  get classes(): { readonly path: string; readonly name: string }[] {
    return this.#sources.flatMap((source) =>
      source.statements
        .filter((node) => ts.isClassDeclaration(node))
        .map((node) => ({ path: relative(DIST, source.fileName), name: node.name?.text ?? '' })),
    );
  }

  /** Exported names, and public members as `Name.member`, that have no docstring, not even an inherited one. */
  get undocumented(): string[] {
    return this.#exports.flatMap((symbol) =>
      [symbol, ...this.#membersOf(symbol)]
        .filter((each) => !this.#isDocumented(each))
        .map((each) => (each === symbol ? symbol.name : `${symbol.name}.${each.name}`)),
    );
  }

  get #sources(): ts.SourceFile[] {
    return this.#program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(DIST));
  }

  get #exports(): ts.Symbol[] {
    const exported = ENTRIES.flatMap((entry) =>
      this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(this.#program.getSourceFile(entry)!)!),
    );
    const isAlias = (symbol: ts.Symbol) => (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return [...new Set(exported.map((each) => (isAlias(each) ? this.#checker.getAliasedSymbol(each) : each)))];
  }

  #membersOf(symbol: ts.Symbol): ts.Symbol[] {
    return [...(symbol.members?.values() ?? [])].filter(({ declarations = [] }) =>
      declarations.some((each) => isMember(each) && !isPrivate(each)),
    );
  }

  #isDocumented(symbol: ts.Symbol): boolean {
    return symbol.getDocumentationComment(this.#checker).length > 0 || symbol.getJsDocTags(this.#checker).length > 0;
  }
}

function isMember(node: ts.Declaration): boolean {
  return (ts.isClassElement(node) || ts.isTypeElement(node)) && node.name !== undefined;
}

function isPrivate(node: ts.Declaration): boolean {
  const isHash = ts.isPrivateIdentifier(ts.getNameOfDeclaration(node) ?? node);
  return isHash || (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0;
}
