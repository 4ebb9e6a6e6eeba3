/** Formats ms since the epoch: "2026-11-21 16:40:05Z", or "?" for an invalid time. */
export function timeText(at: number): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15
    ? `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`
    : '?';
}
