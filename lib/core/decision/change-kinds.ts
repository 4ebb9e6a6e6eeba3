/** Kinds of changes of a definition. */
export const CHANGES = ['define', 'edit', 'pause', 'resume', 'migrate', 'reset', 'remove', 'follow'] as const;

/** `code`: the definition follows the code of the living nodes. `operator`: it stays until an operator changes or resets it. */
export const SOURCES = ['code', 'operator'] as const;
export type DefinitionSource = (typeof SOURCES)[number];
