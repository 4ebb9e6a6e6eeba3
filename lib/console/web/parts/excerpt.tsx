/** A text of any length in a row of a list: its first lines, and all of it as its title. */
export function Excerpt({ children: text }: { readonly children: string }) {
  return (
    <span class="excerpt" title={text}>
      {text}
    </span>
  );
}
