import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Folder of the project. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A declaration with its docstring. */
interface Documented {
  readonly name: string;
  readonly text: string;
  /** Text of the tag `@defaultValue`. */
  readonly defaultValue?: string | undefined;
}

/** The fields of an interface, with their docstrings. */
export function fieldsOf(file: string, name: string): Documented[] {
  return declarationIn(file, name, ts.isInterfaceDeclaration).members.map(documented);
}

/** The points of the list in the docstring of a type, or of a field of a schema: "- `view`: look". */
export function pointsOf(file: string, name: string, field?: string): [value: string, text: string][] {
  const { text } = documented(
    field === undefined ? declarationIn(file, name, ts.isTypeAliasDeclaration) : schemaField(file, name, field),
  );
  const points = text.matchAll(/^- `(?<value>[^`]+)`: (?<text>.+(?:\n(?!- |\n).+)*)/gm);
  return [...points].map(({ groups }) => [groups!['value']!, groups!['text']!]);
}

function schemaField(file: string, schema: string, field: string): ts.PropertyAssignment {
  const find = (node: ts.Node): ts.PropertyAssignment | undefined =>
    ts.isPropertyAssignment(node) && node.name.getText() === field ? node : ts.forEachChild(node, find);
  for (const each of parse(file).statements) {
    const [declared] = ts.isVariableStatement(each) ? each.declarationList.declarations : [];
    const found = declared?.name.getText() === schema ? find(declared) : undefined;
    if (found) return found;
  }
  throw new Error(`${file} does not declare ${field} of ${schema}`);
}

export interface DocumentedError extends Documented {
  readonly file: string;
  /** Name of the class that it extends. */
  readonly base: string;
  /** Absent if it has that of its base class. */
  readonly code?: string | undefined;
}

/** The classes of errors that a file exports. */
export function errorsIn(file: string): DocumentedError[] {
  return parse(file).statements.flatMap((each) => {
    if (!ts.isClassDeclaration(each) || !each.name?.text.endsWith('Error')) return [];
    const base = each.heritageClauses?.[0]?.types[0]?.expression.getText() ?? '';
    const field = each.members.find((member) => ts.isPropertyDeclaration(member) && member.name.getText() === 'code');
    const value = field && ts.isPropertyDeclaration(field) ? field.initializer : undefined;
    return [{ ...documented(each), file, base, code: value && ts.isStringLiteral(value) ? value.text : undefined }];
  });
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(ROOT + file, 'utf8'), ts.ScriptTarget.Latest, true);
}

function declarationIn<Node extends ts.Node & { readonly name: ts.Identifier }>(
  file: string,
  name: string,
  isKind: (node: ts.Node) => node is Node,
): Node {
  for (const each of parse(file).statements) if (isKind(each) && each.name.text === name) return each;
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
