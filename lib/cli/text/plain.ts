import { escapeHidden } from '../../core/decision/index.js';

/**
 * Makes foreign text (names, reasons, messages) safe for a terminal: one line without control characters. An escape
 * sequence in a reason must not move the cursor, set a title or hide text.
 */
export const plain = escapeHidden;
