const PATHS = {
  search: 'M11 4a7 7 0 1 1 0 14a7 7 0 0 1 0-14zM16.2 16.2 20.5 20.5',
  warning: 'M12 4 21.5 20h-19zM12 10v4.5M12 17.2v.3',
  pause: 'M8.5 5v14M15.5 5v14',
  play: 'M8 5.5 18.5 12 8 18.5z',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  undo: 'M9 7 4.5 11.5 9 16M5 11.5h9.5a4.5 4.5 0 0 1 0 9H12',
  remove: 'M5 7h14M9.5 7V4.5h5V7M7 7l1 13h8l1-13',
  add: 'M12 5v14M5 12h14',
  sun: 'M12 8a4 4 0 1 1 0 8a4 4 0 0 1 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  screen: 'M3.5 5h17v11.5h-17zM9 20h6M12 16.5V20',
  leave: 'M14 4.5H5v15h9M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5',
  up: 'M12 19V5.5M6.5 11 12 5.5l5.5 5.5',
  down: 'M12 5v13.5M6.5 13l5.5 5.5 5.5-5.5',
  keyboard: 'M3 6.5h18v11H3zM6.5 10h.3M10 10h.3M13.5 10h.3M17 10h.3M8 14h8',
  back: 'M14.5 5.5 8 12l6.5 6.5',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon, hidden from screen readers. Use it beside a text, or on a button with a label. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
