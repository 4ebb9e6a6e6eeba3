const HEADER = ['server', 'version', 'from', 'passed', 'failed', 'date'];

/** Lines of the table between two marks of a page, as cells, by the server's name and where it is from. */
export function linesIn(page, [begin, end]) {
  const [, rest = ''] = page.split(begin);
  const rows = rest
    .split(end)[0]
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim()));
  // The header and the line below it are of no server.
  return new Map(rows.slice(2).map((cells) => [keyOf(cells[0], cells[2]), cells]));
}

/**
 * The table with a new result. The other lines stay as they are; that of a server that is no longer in the catalogue goes.
 *
 * @param lines those of the present table, by name and origin
 */
export function tableOf(servers, lines, { server, result }) {
  const rows = servers.flatMap((each) => {
    if (each === server) return [cellsOf(each, result)];
    const former = lines.get(keyOf(each.name, each.from.text));
    return former ? [former] : [];
  });
  return [HEADER, HEADER.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const keyOf = (name, from) => `${name} from ${from}`;

function cellsOf({ name, from }, { version, passed, failed, problem, date }) {
  const counts = problem ? ['not tested', 'not tested'] : [String(passed), String(failed)];
  return [name, version, from.text, ...counts, date];
}
