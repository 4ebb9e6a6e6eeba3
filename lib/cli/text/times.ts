/** A moment to the second, in UTC as logs have it: "2026-11-21 16:40:05Z". */
export function timeText(at: number): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15
    ? `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`
    : '?';
}
