/**
 * Reads the description of a field of a schema from its source: of `name: z.string().meta({ description: 'name of the node' })`
 * "Name of the node." A declaration file and the API reference have it as the field's docstring, as the API's document has it.
 *
 * @param ts the compiler that made the checker
 * @param declaration of the field, in the shape of the schema
 * @returns undefined if there is no description, or if it is no constant text
 */
export function descriptionOf(ts, checker, declaration) {
  const text = ofSchema(valueOf(declaration));
  return text && asSentence(text);

  function valueOf(node) {
    if (!node) return undefined;
    if (ts.isShorthandPropertyAssignment(node)) {
      return valueOf(checker.getShorthandAssignmentValueSymbol(node)?.valueDeclaration);
    }
    return ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node) ? node.initializer : undefined;
  }

  /** Follows a chain of calls from its end, and constants: the last description counts. */
  function ofSchema(node) {
    if (!node) return undefined;
    if (ts.isIdentifier(node)) return ofSchema(valueOf(declarationOf(node)));
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
    const { expression: base, name } = node.expression;
    return (name.text === 'meta' && textIn(node.arguments[0])) || ofSchema(base);
  }

  function textIn(meta) {
    const properties = ts.isObjectLiteralExpression(meta) ? meta.properties : [];
    return textOf(valueOf(properties.find(({ name }) => name?.text === 'description')));
  }

  function textOf(node) {
    if (!node) return undefined;
    if (ts.isIdentifier(node)) return textOf(valueOf(declarationOf(node)));
    // A long text, on several lines.
    if (ts.isBinaryExpression(node)) {
      const [left, right] = [textOf(node.left), textOf(node.right)];
      return left === undefined || right === undefined ? undefined : left + right;
    }
    return ts.isStringLiteralLike(node) ? node.text : undefined;
  }

  function declarationOf(identifier) {
    const symbol = checker.getSymbolAtLocation(identifier);
    const isAlias = symbol && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return (isAlias ? checker.getAliasedSymbol(symbol) : symbol)?.valueDeclaration;
  }
}

/**
 * Descriptions begin with a small letter, and have no full stop at the end. A unit, a name in backticks, and a value that is
 * explained ("taken: from its owner") stay as they are.
 */
function asSentence(text) {
  const begun = /^(ms\b|`|(?!absent:)[a-z-]+:)/.test(text) ? text : text[0].toUpperCase() + text.slice(1);
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
