/** ms after which a smaller cluster counts as meant: longer than the restart of a member, and than a night's alarm. */
const MEANT = 60 * 60 * 1000;

/** How many members the cluster usually has: the most that were seen in the last hour. */
export class UsualMembers {
  #most = 0;
  /** Since when fewer are seen, in `now`'s ms, and the most of them. */
  #fewer: { readonly since: number; most: number } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Notes how many members are seen now. @returns how many there usually are */
  see(members: number): number {
    // While nothing is seen, the client itself is cut off, which says nothing about the cluster.
    if (members === 0) return this.#most;
    if (members >= this.#most) {
      this.#most = members;
      this.#fewer = undefined;
      return members;
    }
    const fewer = (this.#fewer ??= { since: this.now(), most: 0 });
    fewer.most = Math.max(fewer.most, members);
    if (this.now() - fewer.since < MEANT) return this.#most;
    this.#most = fewer.most;
    this.#fewer = undefined;
    return this.see(members);
  }
}
