import { escapeHidden } from '../../decision/index.js';

/**
 * Text that others wrote (names, reasons, messages), on one line, and with nothing in it that a terminal obeys: an
 * escape sequence in a reason must not move the cursor, set a title or hide what stands there.
 */
export const plain = escapeHidden;
