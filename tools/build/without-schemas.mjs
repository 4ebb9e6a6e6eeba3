import ts from 'typescript';

const { factory } = ts;
const FORM = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.InTypeAlias;

/**
 * Writes `z.output<typeof schema>` out in declarations, as the type that it stands for, with the docstrings of its fields.
 * So applications need no zod for the types, and see fields in place of a schema.
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

  /** An interface that extends the output of a schema gets the fields of it. */
  function withOwnFields(node) {
    const [base] = node.heritageClauses?.[0]?.types ?? [];
    if (!base || !isOutput(base.expression, base)) return node;
    const { members } = writtenOut(base);
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
  constructor(checker, place) {
    this.checker = checker;
    this.place = place;
  }

  write(type) {
    if (isPlainObject(type))
      return factory.createTypeLiteralNode(type.getProperties().map((each) => this.#field(each)));
    if (this.checker.isArrayType(type)) return this.#list(type);
    if (type.isUnion() && type.types.some((each) => this.#hasFields(each))) {
      return factory.createUnionTypeNode(type.types.map((each) => this.write(each)));
    }
    return this.checker.typeToTypeNode(type, this.place, FORM);
  }

  #list(type) {
    const [item] = this.checker.getTypeArguments(type);
    return this.#hasFields(item)
      ? factory.createArrayTypeNode(this.write(item))
      : this.checker.typeToTypeNode(type, this.place, FORM);
  }

  #hasFields(type) {
    return (
      isPlainObject(type) || (this.checker.isArrayType(type) && isPlainObject(this.checker.getTypeArguments(type)[0]))
    );
  }

  #field(symbol) {
    const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0;
    const field = factory.createPropertySignature(
      undefined,
      symbol.name,
      isOptional ? factory.createToken(ts.SyntaxKind.QuestionToken) : undefined,
      this.write(this.checker.getTypeOfSymbolAtLocation(symbol, this.place)),
    );
    const [doc] = symbol.declarations?.[0]?.jsDoc ?? [];
    if (!doc) return field;
    const text = doc.getText().slice('/*'.length, -'*/'.length).replaceAll(/\n */g, '\n ');
    return ts.addSyntheticLeadingComment(field, ts.SyntaxKind.MultiLineCommentTrivia, text, true);
  }
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
