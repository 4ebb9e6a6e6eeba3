import { Comment, Converter } from 'typedoc';
import ts from 'typescript';
import { descriptionOf } from '../build/descriptions.mjs';

/**
 * A plugin of TypeDoc for interfaces of a schema's fields: they have no base, and a field without a docstring has the
 * description that the API's document has.
 */
export function load({ converter }) {
  converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    const [declaration] = context.getSymbolFromReflection(reflection)?.declarations ?? [];
    if (!declaration) return;
    if (ts.isInterfaceDeclaration(declaration) && isOfSchema(declaration)) delete reflection.extendedTypes;
    if (!ts.isPropertyAssignment(declaration) && !ts.isShorthandPropertyAssignment(declaration)) return;
    const text = reflection.comment ? undefined : descriptionOf(ts, context.checker, declaration);
    if (text) reflection.comment = new Comment([{ kind: 'text', text }]);
  });
}

function isOfSchema({ heritageClauses: [base] = [] }) {
  return base?.getText().includes('z.output<typeof ');
}
