const WIDTH = 820;
const LABEL = 190;
const BAR = 11;
const ROW = 34;
const TITLES = { redis: 'Redis', postgres: 'PostgreSQL', hazelcast: 'Hazelcast' };
/** Pixels for the figure behind the longest bar. */
const FIGURE = 80;

/** The viewer applies the colours of its own scheme. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 14px; }
  .small { font-size: 11px; fill: #59636e; }
  .peer1 { fill: #b6bec8; } .peer64 { fill: #818b98; }
  .ours1 { fill: #80b3ff; } .ours64 { fill: #0969da; }
  .raw1 { fill: #e3d7b0; } .raw64 { fill: #bfa14a; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .small { fill: #9198a1; }
    .peer1 { fill: #4a525c; } .peer64 { fill: #8b949e; }
    .ours1 { fill: #1f4f8f; } .ours64 { fill: #4493f8; }
    .raw1 { fill: #5a4f2a; } .raw64 { fill: #b59a4c; }
  }`;

/**
 * The pairs per second of each lock as bars, one panel for each server. The scale of a panel is its own, because the
 * servers do different work for a write.
 *
 * @returns SVG without outside references, for light and dark pages
 */
export function chartOf({ peers, speed = {}, date }) {
  const parts = [];
  let y = 34;
  for (const server of Object.keys(TITLES)) {
    const shown = peers.filter((peer) => peer.server === server && speed[peer.id]);
    if (shown.length === 0) continue;
    parts.push(`<text class="title" x="0" y="${y}">${TITLES[server]}</text>`);
    parts.push(...panel(shown, speed, y + 10));
    y += shown.length * ROW + 40;
  }
  const title = 'Pairs of acquire and release per second';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-labelledby="title">
<title id="title">${title}, with 1 flow and with 64 flows</title>
<style>${STYLE}
</style>
<text class="small" x="0" y="12">${title}; of two bars the upper one is 1 flow, the lower one 64 flows; ${date}</text>
${parts.join('\n')}
</svg>
`;
}

function panel(shown, speed, top) {
  const most = Math.max(...shown.flatMap(({ id }) => Object.values(speed[id]).map(({ rate }) => rate)));
  const scale = (WIDTH - LABEL - FIGURE) / most;
  return shown.flatMap(({ id, name, kind }, index) => {
    const y = top + index * ROW;
    const bars = Object.entries(speed[id]).map(([flows, { rate }], place) =>
      bar({ flows, kind, width: Math.max(1, rate * scale), y: y + place * (BAR + 2), rate }),
    );
    return [`<text x="0" y="${y + 16}">${escaped(name)}</text>`, ...bars];
  });
}

function bar({ flows, kind, width, y, rate }) {
  const length = width.toFixed(1);
  const end = (LABEL + width + 5).toFixed(1);
  const figure = Math.round(rate).toLocaleString('en-US');
  return (
    `<rect class="${kind}${flows}" x="${LABEL}" y="${y}" width="${length}" height="${BAR}"/>` +
    `<text class="small" x="${end}" y="${y + BAR - 1}">${figure}</text>`
  );
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
