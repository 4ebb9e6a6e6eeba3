/** Servers as the page names them. */
export const TITLES = { redis: 'Redis', postgres: 'PostgreSQL', hazelcast: 'Hazelcast', memory: 'Memory' };

export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const whole = (rate) => Math.round(rate).toLocaleString('en-US');

/** µs below 1 ms. */
export function micros(value) {
  return value < 1000 ? `${Math.round(value)} µs` : `${(value / 1000).toFixed(1)} ms`;
}

/** A figure of a peer divided by ours; bold if the peer is faster. */
export const besideOurs = (ratio, kind) =>
  ratio > 1 && kind === 'peer' ? `**${ratio.toFixed(2)}**` : ratio.toFixed(2);

/** The first of ours on a server. */
export const oursOn = (server, peers) => peers.find((peer) => peer.server === server && peer.kind === 'ours');

/** When, where and with what a part of the page was measured. */
export function factsOf({ date, machine, load, versions, seconds, note, missing, took }, parts) {
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const remarks = [note, ...missing.map((line) => `This run ${line}.`)].filter(Boolean);
  return `- **Date:** ${date}; the whole run took ${took} s
- **Machine:** ${machine.processor}, ${machine.cores} cores, ${machine.memory}, Linux ${machine.kernel}; load average before the run: ${load.toFixed(1)}
- **Versions:** ${named.join(', ')}; those of the libraries stand below the tables
- **Repeat it:** \`npm run bench:peers -- --parts ${parts} --write\` (${seconds} s of measurement for each row)${remarks.length > 0 ? `\n\n${remarks.join('\n')}` : ''}`;
}
