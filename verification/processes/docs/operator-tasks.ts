import { readFileSync } from 'node:fs';
import { ROOT } from '../../../test/docs/snippets.js';

/** One of the tasks of docs/operations.md, by the heading of its section. */
export interface DocumentedTask {
  /** Clicks in the console. */
  readonly clicks: number;
  /** Number of commands that the text names. */
  readonly commands: number;
  readonly transcript: readonly Command[];
}

/** A command of a transcript, with its output. */
export interface Command {
  readonly args: readonly string[];
  readonly output: string;
}

const SECTION = /^## (?<heading>.+)\n(?<body>[\s\S]*?)(?=^## |(?![\s\S]))/gm;
const COUNTS =
  /\*\*(?<clicks>\d+) clicks?\*\*[\s\S]*?\*\*(?<commands>\d+) commands?\*\*[\s\S]*?^```\n(?<transcript>[\s\S]*?)^```$/m;

/** All sections of docs/operations.md that name numbers of clicks and commands. */
export function documentedTasks(): ReadonlyMap<string, DocumentedTask> {
  const page = readFileSync(`${ROOT}docs/operations.md`, 'utf8');
  const sections = [...page.matchAll(SECTION)].map(({ groups }) => groups!);
  return new Map(
    sections.flatMap(({ heading, body }) => {
      const { clicks, commands, transcript } = COUNTS.exec(body!)?.groups ?? {};
      if (transcript === undefined) return [];
      return [[heading!, { clicks: Number(clicks), commands: Number(commands), transcript: commandsOf(transcript) }]];
    }),
  );
}

function commandsOf(transcript: string): Command[] {
  return transcript
    .split(/^\$ gatekeeper /m)
    .slice(1)
    .map((text) => {
      const [line = '', ...output] = text.split('\n');
      return { args: argumentsOf(line), output: output.join('\n') };
    });
}

/** Words as a shell would pass them: quotes keep spaces together. */
function argumentsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|[^\s']+/g)].map(([word, quoted]) => quoted ?? word);
}

const ID = /\b[0-9a-z]{10,16}\.[0-9a-z]{1,4}\b/g;

/** Ids of changes and permits, in order. */
export function idsIn(output: string): string[] {
  return output.match(ID) ?? [];
}

/** An output without what differs from run to run: times, durations, ids, tokens, numbers of members, widths of columns. */
export function essenceOf(output: string): string {
  return output
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    .replaceAll(ID, 'ID')
    .replaceAll(/\b\d{16,19}\b/g, 'TOKEN')
    .replaceAll(/\b(\d+(\.\d+)? ?(ms|s|min|h)\b ?)+/g, 'SPAN ')
    .replaceAll(/\bSPAN (ahead|behind)\b/g, 'SPAN')
    .replaceAll(/\b(members|quorum) \d+/g, '$1 N')
    .replaceAll(/\b\d+ read\b/g, 'N read')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n/g, '\n')
    .trim();
}
