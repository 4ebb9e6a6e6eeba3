/** The entries of an audit log that are of no submissions and claims. */
export function changesByHand<Entry extends { readonly action: string }>(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ action }) => action !== 'submit-tasks' && action !== 'claim-tasks');
}
