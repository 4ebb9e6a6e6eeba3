import type { Distribution } from '../../proof/history/distribution.js';

type Row = readonly string[];

export function table(columns: Row, rows: readonly Row[]): string[] {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)];
}

export function list(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`## ${title}`, '', ...items.map((item) => `- ${item}`), ''];
}

/** n, median, p99, max. */
export function spread({ count, median, p99, max }: Distribution): string {
  const times = [median, p99, max].map((value) => (value === Infinity ? 'never' : value?.toFixed(0)));
  return [count, ...(count > 0 ? times : [])].join(', ');
}

/** Stale writes: tried, refused, applied. */
export const stale = (refused: number, applied: number): string => `${refused + applied}, ${refused}, ${applied}`;
