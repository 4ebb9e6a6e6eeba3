import { signal } from '@preact/signals';
import { goTo, hrefOf } from '../parts/router.js';

/** Key in the browser's storage; "off" if the user turned the keys off. */
const KEY = 'gatekeeper-shortcuts';
/** ms in which the second key must follow `g`. */
const PATIENCE = 1500;

/** The pages by the key after `g`. */
export const PAGE_KEYS: Readonly<Record<string, readonly [path: string, label: string]>> = {
  w: ['work', 'Work'],
  r: ['runs', 'Runs'],
  n: ['nodes', 'Nodes'],
  c: ['changes', 'Changes'],
  o: ['operate', 'Operate'],
  h: ['health', 'Health'],
};

/** Keys without a modifier may be pressed by mistake, or by speech input, so they can be turned off (WCAG 2.1.4). */
export const areOn = signal(localStorage.getItem(KEY) !== 'off');
/** Whether the dialog with the keys is open. */
export const isHelpOpen = signal(false);

export function turn(isOn: boolean): void {
  areOn.value = isOn;
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}

/** Handles the keys of the console. @returns a function that ends this */
export function startShortcuts(): () => void {
  let leader = -Infinity;
  const onKey = (event: KeyboardEvent) => {
    if (!areOn.value || !isForPage(event)) return;
    const isSecond = event.timeStamp - leader < PATIENCE;
    leader = event.key === 'g' && !isSecond ? event.timeStamp : -Infinity;
    const act = isSecond ? goingTo(event.key) : ACTIONS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  addEventListener('keydown', onKey);
  return () => {
    removeEventListener('keydown', onKey);
    isHelpOpen.value = false;
  };
}

const TYPING = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]';

/** Not while the user types or a dialog is open, and not the browser's own combinations. */
function isForPage({ key, target, ctrlKey, altKey, metaKey, isComposing, defaultPrevented }: KeyboardEvent): boolean {
  if (ctrlKey || altKey || metaKey || isComposing || defaultPrevented || key.length !== 1) return false;
  return !(target instanceof Element && target.closest(TYPING)) && !document.querySelector('dialog[open]');
}

function goingTo(key: string): (() => void) | undefined {
  const page = Object.hasOwn(PAGE_KEYS, key) ? PAGE_KEYS[key] : undefined;
  return page && (() => goTo(hrefOf([page[0]])));
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  '?': () => (isHelpOpen.value = true),
  '/': () => document.querySelector<HTMLElement>('main [role=search] input')?.focus(),
  j: () => step(1),
  k: () => step(-1),
  x: () => presentRow()?.querySelector<HTMLElement>('input[type=checkbox]')?.click(),
};

/** The links and boxes that stand for a row, by which the keys go from row to row. */
const HANDLES = 'main tbody tr a[href], main tbody tr summary, main tbody tr input[type=checkbox]';

function presentRow(): Element | null | undefined {
  return document.activeElement?.closest('main tbody tr');
}

/** Moves the focus to the row after or before the present one. A long list draws its next rows as it scrolls. */
function step(by: 1 | -1): void {
  const handles = [...document.querySelectorAll<HTMLElement>(HANDLES)];
  // One for each row: its link, if it has one.
  const rows = [...new Set(handles.map((handle) => handle.closest('tr')!))];
  const present = rows.indexOf(presentRow() as HTMLTableRowElement);
  const row = present < 0 ? rows[0] : rows[present + by];
  const handle = row?.querySelector<HTMLElement>('a[href]') ?? row?.querySelector<HTMLElement>('summary, input');
  handle?.focus();
  handle?.scrollIntoView({ block: 'nearest' });
  // The browser tells it only with the next frame. More keys may come before that, and would find no next row.
  dispatchEvent(new Event('scroll'));
}
