/** The element for the focus after an action: the action's result if it is shown, else the page's heading. */
function focusPage(): void {
  const place =
    document.querySelector<HTMLElement>('main [data-outcome]') ?? document.querySelector<HTMLElement>('main h1');
  place?.focus({ preventScroll: true });
}

/** Returns the focus to an element, or to the page if the element is gone or disabled: otherwise it would be lost. */
export function focusOr(element: Element | null): void {
  if (element instanceof HTMLElement && element.isConnected && !element.matches(':disabled')) element.focus();
  else focusPage();
}
