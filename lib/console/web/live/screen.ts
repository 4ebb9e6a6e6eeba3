import { signal } from '@preact/signals';

/** As in the style sheets: rows are cards on such a screen. */
const narrow = matchMedia('(max-width: 760px)');

/** Whether the screen is as narrow as that of a phone. */
export const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => (isNarrow.value = matches));
