import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'gatekeeper-theme';

export const theme = signal<Theme>(THEMES.find((each) => each === localStorage.getItem(KEY)) ?? 'system');

export function nextTheme(): Theme {
  return THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(KEY, chosen);
  applyTheme();
}

/** Writes the chosen theme to the root element, where the style sheet reads it. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}
