import type { CommandNode, CommandTree } from './command-tree.js';
import { allOptions, anyOf, flagsOf, optionsOf, quoted } from './words.js';

/** For `source <(gatekeeper completion zsh)`, or as the file _gatekeeper in a folder of $fpath. */
export function zshScript(tree: CommandTree): string {
  const valued = allOptions(tree).filter(({ takesValue }) => takesValue);
  const files = valued.filter(({ takesFile }) => takesFile);
  const others = valued.filter(({ takesFile }) => !takesFile);
  return `#compdef ${tree.name}
# zsh completion of ${tree.name}: source <(${tree.name} completion zsh)
_${tree.name}() {
  local command= i
  local -a candidates
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      ${anyOf(flagsOf(valued))}) ((i++)) ;;
      ${anyOf(tree.commands.map(({ name }) => name))}) command=$words[i]; break ;;
    esac
  done
  case $words[CURRENT-1] in
    ${anyOf(flagsOf(files))}) _files; return ;;
    ${anyOf(flagsOf(others))}) return ;;
  esac
  case $command in
    '') candidates=(${candidates([...tree.commands, ...tree.options])}) ;;
${tree.commands.map((command) => branch(tree, command)).join('\n')}
  esac
  _describe -o ${tree.name} candidates
}
compdef _${tree.name} ${tree.name}`;
}

function branch(tree: CommandTree, command: CommandNode): string {
  const choices = command.choices.map((name) => ({ name, description: '' }));
  const words = candidates([...choices, ...optionsOf(tree, command)]);
  return `    ${command.name}) candidates=(${words})${command.takesFile ? '; _files' : ''} ;;`;
}

type Candidate = { readonly description: string } & ({ readonly name: string } | { readonly flag: string });

function candidates(all: readonly Candidate[]): string {
  return all
    .map((each) => {
      const word = 'flag' in each ? each.flag : each.name;
      return quoted(each.description ? `${word}:${each.description}` : word);
    })
    .join(' ');
}
