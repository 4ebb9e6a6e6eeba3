import { Command, Option } from 'commander';
import { VERSION } from '../core/copies/version.js';
import { escapeLines } from '../core/decision/index.js';
import { alertsCommand } from './commands/alerts.command.js';
import { allocationCommand } from './commands/allocation.command.js';
import { completionCommand } from './commands/completion.command.js';
import { contextsCommand } from './commands/contexts.command.js';
import { defineCommand, editCommand } from './commands/definitions.command.js';
import { dumpCommand, loadCommand } from './commands/dump.command.js';
import { explainCommand } from './commands/explain.command.js';
import { healthCommand } from './commands/health.command.js';
import { historyCommand, runsCommand } from './commands/history.command.js';
import { auditCommand, nodesCommand } from './commands/insight.command.js';
import { leaderCommand, leadersCommand } from './commands/leaders.command.js';
import { maintenanceCommand } from './commands/maintenance.command.js';
import { migrateCommand } from './commands/migrate.command.js';
import { pauseCommand, resetCommand, resumeCommand } from './commands/pause.command.js';
import { removeCommand, revokeCommand } from './commands/removal.command.js';
import { runCommand } from './commands/run.command.js';
import { statusCommand } from './commands/status.command.js';
import { tasksCommand } from './commands/tasks.command.js';
import { undoCommand } from './commands/undo.command.js';
import { watchCommand } from './commands/watch.command.js';
import { EXIT_MEANINGS } from './options/exit-code.js';
import { readSpan } from './options/option-readers.js';
import { FORMATS, type Streams } from './session/output.js';
import type { Runner } from './session/session.js';

/** ms; less than 10 s, because an outage must be reported within that time. */
const TIMEOUT = 8000;

const ENVIRONMENT_HELP = `Environment, used if no option is given:
  GATEKEEPER_URL, GATEKEEPER_TOKEN  as --url and --token
  GATEKEEPER_STORE                  as --store; other users can't see it, so it may contain a password
  GATEKEEPER_CONTEXT                as --context
  GATEKEEPER_CONFIG                 the file of contexts (default: ~/.config/gatekeeper/config.json)`;

const exitCodesHelp = () =>
  ['Exit codes:', ...Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `  ${code}  ${meaning}`)].join('\n');

const UNITS_HELP = `Durations are 500ms, 30s, 5m, 2h, 1d or PT5M; a bare number is ms. Patterns are RE2 and match the whole name.`;

const HELP_HINT =
  '("gatekeeper --help" lists commands and options; put other arguments that begin with "-" after "--")';

/** The commands in the order of the help. */
const COMMANDS = [
  statusCommand,
  healthCommand,
  alertsCommand,
  watchCommand,
  explainCommand,
  nodesCommand,
  leadersCommand,
  runsCommand,
  historyCommand,
  auditCommand,
  defineCommand,
  editCommand,
  pauseCommand,
  resumeCommand,
  runCommand,
  maintenanceCommand,
  migrateCommand,
  undoCommand,
  leaderCommand,
  allocationCommand,
  tasksCommand,
  revokeCommand,
  resetCommand,
  removeCommand,
  dumpCommand,
  loadCommand,
  contextsCommand,
];

/** Creates all commands and options. Throws errors; never ends the process. */
export function createProgram(runner: Runner, streams: Streams): Command {
  const program = withGlobalOptions(new Command('gatekeeper'))
    .description("Shows and changes a cluster's semaphores: over the console's HTTP API, or directly in the store.")
    .version(VERSION)
    .addHelpText('afterAll', `\n${UNITS_HELP}`)
    .addHelpText('after', `\n${ENVIRONMENT_HELP}\n\n${exitCodesHelp()}`)
    .showHelpAfterError(HELP_HINT)
    .exitOverride()
    .configureOutput({
      writeOut: streams.out,
      writeErr: streams.err,
      outputError: (text, write) => write(escapeLines(text.replace(/^error: /, 'gatekeeper: '))),
    });
  const commands = [...COMMANDS.map((create) => create(runner)), completionCommand(runner, () => program)];
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program));
  return program;
}

function withGlobalOptions(program: Command): Command {
  return program
    .option('--context <name>', 'a cluster by its name in the file of contexts ("gatekeeper contexts" lists them)')
    .option('--url <url>', 'address of a console: https://host/gatekeeper')
    .option('--token <token>', 'token for the console; visible in the list of processes, so prefer --token-file')
    .option('--token-file <file>', 'file that contains only the token')
    .option(
      '--store <address>',
      'address of the store: postgres://host/database, redis://host:6379, hazelcast://host:5701[,host:5701...][/cluster]',
    )
    .option(
      '--store-options <file>',
      'JSON file with more options of the store, as in code: schema, prefix, mapName, clientConfig...',
    )
    .addOption(
      new Option(
        '--clock-tolerance <duration>',
        "with --store: the application's clockTolerance, if it is not the default",
      ).argParser(readSpan),
    )
    .option('--as <name>', 'with --store: the author of changes (default: the user of this process)')
    .addOption(
      new Option('--timeout <duration>', 'longest time for a connection or an answer')
        .argParser(readSpan)
        .default(TIMEOUT, '8s'),
    )
    .addOption(
      new Option('-o, --output <format>', 'form of the output: text, wide (more columns), json or yaml')
        .choices(FORMATS)
        .conflicts('json'),
    )
    .option('--json', 'print only JSON to standard output: as -o json')
    .option('--progress', 'print lines of progress to standard error, also without a terminal')
    .option('--verbose', 'add the stack trace to an error');
}
