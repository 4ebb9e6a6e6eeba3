import { effect, signal } from '@preact/signals';
import { healthState } from './health.js';

/** Title of the shown page, without the state. */
export const pageTitle = signal('Gatekeeper');

const PREFIXES: Partial<Record<typeof healthState.value, string>> = { down: 'No grants', offline: 'Offline' };
/** The icon of index.html in red, with a line across. As a text, because a page that is offline can load nothing. */
const DOWN_ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#b3261e"/>' +
    '<path d="M8 24V13a8 8 0 0 1 16 0v11M7 25 25 7" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>',
)}`;

/** Shows the state in the title and in the icon of the browser's tab. @returns a function that ends this */
export function startTab(): () => void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')!;
  const usual = icon.href;
  const stop = effect(() => {
    const prefix = PREFIXES[healthState.value];
    document.title = prefix === undefined ? pageTitle.value : `${prefix} · ${pageTitle.value}`;
    icon.href = prefix === undefined ? usual : DOWN_ICON;
  });
  return () => {
    stop();
    icon.href = usual;
  };
}
