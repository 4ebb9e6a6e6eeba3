/** The name with its icon. An inline drawing can use the colours of the theme. */
export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <path d="M8 25V13a8 8 0 0 1 16 0v12M13.5 25V15M18.5 25V15" />
      </svg>
      Gatekeeper
    </span>
  );
}
