import type { CommandNode, CommandTree, OptionNode } from './command-tree.js';

/** The script for `source <(gatekeeper completion bash)`. Bash passes "--option=value" as three words. */
export function bashScript(tree: CommandTree): string {
  const valued = allOptions(tree).filter(({ takesValue }) => takesValue);
  const files = valued.filter(({ takesFile }) => takesFile);
  const others = valued.filter(({ takesFile }) => !takesFile);
  return `# bash completion of ${tree.name}: source <(${tree.name} completion bash)
_${tree.name}() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= words= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${anyOf(flagsOf(valued))}) ((i++)); [[ \${COMP_WORDS[i]} == = ]] && ((i++)) ;;
      ${anyOf(tree.commands.map(({ name }) => name))}) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  case $before in
    ${anyOf(flagsOf(files))}) _${tree.name}_files; return ;;
    ${anyOf(flagsOf(others))}) return ;;
  esac
  case $command in
    '') words=${quoted([...tree.commands.map(({ name }) => name), ...flagsOf(tree.options)].join(' '))} ;;
${tree.commands.map((command) => branch(tree, command)).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case $command in
    ${anyOf(tree.commands.filter(({ takesFile }) => takesFile).map(({ name }) => name))}) _${tree.name}_files ;;
  esac
}
_${tree.name}_files() {
  local IFS=$'\\n'
  # Adds a slash to a folder, and quotes spaces. Bash 3 has no compopt.
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen -f -- "$word"))
}
complete -F _${tree.name} ${tree.name}`;
}

function branch(tree: CommandTree, command: CommandNode): string {
  const words = [...command.choices, ...flagsOf(optionsOf(tree, command))];
  return `    ${command.name}) words=${quoted(words.join(' '))} ;;`;
}

/** Quotes a word for bash. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The alternatives of a `case` branch. Without words it returns one that never matches. */
function anyOf(words: readonly string[]): string {
  return words.length > 0 ? words.join('|') : "''";
}

/** All options, each once. An option takes a value in all commands or in none. */
function allOptions({ options, commands }: CommandTree): OptionNode[] {
  const byFlag = new Map(
    [...options, ...commands.flatMap((command) => command.options)].map((each) => [each.flag, each]),
  );
  return [...byFlag.values()];
}

const flagsOf = (options: readonly OptionNode[]) => options.map(({ flag }) => flag);

/** All options of a command: its own, and those of every command. */
function optionsOf(tree: CommandTree, command: CommandNode): OptionNode[] {
  return allOptions({ ...tree, commands: [command] });
}
