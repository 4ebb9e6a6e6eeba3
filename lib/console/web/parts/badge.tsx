import type { ComponentChildren } from 'preact';

export type Tone = 'neutral' | 'accent' | 'good' | 'warning' | 'bad';

/** Shows a state as a word, never by colour alone. */
export function Badge({ tone, title, children }: { tone: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
