import ts from 'typescript';
import { descriptionOf } from './descriptions.mjs';

const { factory } = ts;
const FORM = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.InTypeAlias;

/**
 * Writes `z.output<typeof schema>` out in declarations, as the type that it stands for, with the docstrings of its fields: a
 * field without one has its description. So applications need no zod for the types, and see fields in place of a schema.
 */
export function withoutSchemas(checker) {
  return (context) => (file) => {
    const visit = (node) => {
      if (ts.isTypeReferenceNode(node) && isOutput(node.typeName, node)) return writtenOut(node);
      if (ts.isInterfaceDeclaration(node)) return withOwnFields(node);
      return ts.visitEachChild(node, visit, context);
    };
    return ts.visitNode(file, visit);
  };

  function writtenOut(node) {
    const original = ts.getOriginalNode(node);
    return new Writer(checker, original).write(checker.getTypeFromTypeNode(original));
  }

  /**
   * An interface that extends the output of a schema gets the fields of it. Of `Readonly`, all fields, also those of objects in
   * it, are read-only, and an optional one is absent if it is undefined, as in other interfaces of the library.
   */
  function withOwnFields(node) {
    const [base] = node.heritageClauses?.[0]?.types ?? [];
    const isReadonly = base?.expression.text === 'Readonly';
    const output = isReadonly ? base.typeArguments[0] : base;
    if (!output || !isOutput(output.typeName ?? output.expression, output)) return node;
    const original = ts.getOriginalNode(base);
    const members = new Writer(checker, original, isReadonly).fieldsOf(checker.getTypeFromTypeNode(original));
    return factory.updateInterfaceDeclaration(node, node.modifiers, node.name, node.typeParameters, undefined, [
      ...members,
      ...node.members,
    ]);
  }
}

/** Whether this is `z.output<typeof schema>`. Outputs of a type parameter stay: no exported function has one. */
function isOutput(name, { typeArguments: [argument] = [] }) {
  const isOfZod = (ts.isQualifiedName(name) ? name.left : name.expression)?.text === 'z';
  return isOfZod && argument !== undefined && ts.isTypeQueryNode(argument);
}

class Writer {
  constructor(checker, place, isReadonly = false) {
    this.checker = checker;
    this.place = place;
    this.isReadonly = isReadonly;
  }

  write(type) {
    if (isPlainObject(type)) return factory.createTypeLiteralNode(this.fieldsOf(type));
    if (this.checker.isArrayType(type)) return this.#list(type);
    if (type.isUnion() && type.types.some((each) => this.#hasFields(each))) {
      return factory.createUnionTypeNode(type.types.map((each) => this.write(each)));
    }
    return this.checker.typeToTypeNode(type, this.place, FORM);
  }

  fieldsOf(type) {
    return type.getProperties().map((each) => this.#field(each));
  }

  #list(type) {
    const [item] = this.checker.getTypeArguments(type);
    if (!this.#hasFields(item)) return this.checker.typeToTypeNode(type, this.place, FORM);
    const list = factory.createArrayTypeNode(this.write(item));
    const isReadonly = type.symbol.name === 'ReadonlyArray';
    return isReadonly ? factory.createTypeOperatorNode(ts.SyntaxKind.ReadonlyKeyword, list) : list;
  }

  #hasFields(type) {
    return (
      isPlainObject(type) || (this.checker.isArrayType(type) && isPlainObject(this.checker.getTypeArguments(type)[0]))
    );
  }

  #field(symbol) {
    const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0;
    const type = this.write(this.checker.getTypeOfSymbolAtLocation(symbol, this.place));
    const field = factory.createPropertySignature(
      this.isReadonly ? [factory.createToken(ts.SyntaxKind.ReadonlyKeyword)] : undefined,
      symbol.name,
      isOptional ? factory.createToken(ts.SyntaxKind.QuestionToken) : undefined,
      this.isReadonly && isOptional ? withoutUndefined(type) : type,
    );
    const text = this.#docOf(symbol.declarations?.[0]);
    return text ? ts.addSyntheticLeadingComment(field, ts.SyntaxKind.MultiLineCommentTrivia, text, true) : field;
  }

  #docOf(declaration) {
    const [doc] = declaration?.jsDoc ?? [];
    if (doc) return doc.getText().slice('/*'.length, -'*/'.length).replaceAll(/\n */g, '\n ');
    const description = descriptionOf(ts, this.checker, declaration);
    return description && `* ${description} `;
  }
}

function withoutUndefined(type) {
  if (!ts.isUnionTypeNode(type)) return type;
  const others = type.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword);
  return others.length === 1 ? others[0] : factory.createUnionTypeNode(others);
}

/** Made by a schema: no interface, no class, no function, no list. */
function isPlainObject(type) {
  return (
    (type.flags & ts.TypeFlags.Object) !== 0 &&
    type.aliasSymbol === undefined &&
    (type.symbol?.flags & ts.SymbolFlags.TypeLiteral) !== 0 &&
    type.getCallSignatures().length === 0
  );
}
