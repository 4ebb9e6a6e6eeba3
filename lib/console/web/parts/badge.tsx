import type { ComponentChildren } from 'preact';

export type Tone = 'neutral' | 'accent' | 'good' | 'warning' | 'bad';

/** A state in one word, so that it is never shown by colour alone. */
export function Badge({ tone, title, children }: { tone: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
