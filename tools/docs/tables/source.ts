import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Folder of the project. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A declaration with its docstring. */
export interface Documented {
  readonly name: string;
  readonly text: string;
  /** Text of the tag `@defaultValue`. */
  readonly defaultValue?: string | undefined;
}

/** The fields of an interface, with their docstrings. */
export function fieldsOf(file: string, name: string): Documented[] {
  return declarationIn(file, name, ts.isInterfaceDeclaration).members.map(documented);
}

/** The points of the list in a type's docstring: "- `view`: look". */
export function pointsOf(file: string, name: string): [value: string, text: string][] {
  const { text } = documented(declarationIn(file, name, ts.isTypeAliasDeclaration));
  const points = text.matchAll(/^- `(?<value>[^`]+)`: (?<text>.+(?:\n(?!- |\n).+)*)/gm);
  return [...points].map(({ groups }) => [groups!['value']!, groups!['text']!]);
}

function declarationIn<Node extends ts.Node & { readonly name: ts.Identifier }>(
  file: string,
  name: string,
  isKind: (node: ts.Node) => node is Node,
): Node {
  const { statements } = ts.createSourceFile(file, readFileSync(ROOT + file, 'utf8'), ts.ScriptTarget.Latest, true);
  for (const each of statements) if (isKind(each) && each.name.text === name) return each;
  throw new Error(`${file} does not declare ${name}`);
}

function documented(node: ts.Node & { readonly name?: ts.PropertyName | undefined }): Documented {
  const name = node.name!.getText();
  const text = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).map(textOf).join('\n');
  if (text === '') throw new Error(`${node.getSourceFile().fileName}: ${name} has no docstring`);
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'defaultValue');
  return { name, text, ...(tag && { defaultValue: textOf(tag) }) };
}

function textOf({ comment }: { readonly comment?: string | ts.NodeArray<ts.JSDocComment> | undefined }): string {
  return ts.getTextOfJSDocComment(comment) ?? '';
}
