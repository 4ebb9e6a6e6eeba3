/** Where the keyboard goes on from: what came of the last action, where that is shown, else the page's heading. */
function focusPage(): void {
  const place =
    document.querySelector<HTMLElement>('main [data-outcome]') ?? document.querySelector<HTMLElement>('main h1');
  place?.focus({ preventScroll: true });
}

/** Gives the focus back; where what had it is gone or can't be pressed, to the page: else it would start from nowhere. */
export function focusOr(element: Element | null): void {
  if (element instanceof HTMLElement && element.isConnected && !element.matches(':disabled')) element.focus();
  else focusPage();
}
