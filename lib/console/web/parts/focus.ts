/** Focuses the result of an action if it is shown, else the heading of the page. */
function focusPage(): void {
  const place =
    document.querySelector<HTMLElement>('main [data-outcome]') ?? document.querySelector<HTMLElement>('main h1');
  place?.focus({ preventScroll: true });
}

/** Focuses an element. If the element is gone or disabled, focuses the page, because the focus would be lost. */
export function focusOr(element: Element | null): void {
  if (element instanceof HTMLElement && element.isConnected && !element.matches(':disabled')) element.focus();
  else focusPage();
}
