import type { CommandNode, CommandTree } from './command-tree.js';
import { allOptions, anyOf, flagsOf, optionsOf, quoted } from './words.js';

/**
 * The script for `source <(gatekeeper completion zsh)`, or for a file _gatekeeper in a folder of $fpath. Options have a
 * call of `_describe` of their own, because `_describe -o` offers nothing for a word without a leading dash.
 */
export function zshScript(tree: CommandTree): string {
  const valued = allOptions(tree).filter(({ takesValue }) => takesValue);
  const files = valued.filter(({ takesFile }) => takesFile);
  const others = valued.filter(({ takesFile }) => !takesFile);
  return `#compdef ${tree.name}
# zsh completion of ${tree.name}: source <(${tree.name} completion zsh)
_${tree.name}() {
  local command= before=$words[CURRENT-1] found=1 i
  local -a choices flags
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      ${anyOf(flagsOf(valued))}) ((i++)) ;;
      ${anyOf(namesOf(tree))}) command=$words[i]; break ;;
    esac
  done
  if [[ $words[CURRENT] == --*=* ]]; then
    before=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case $before in
    ${anyOf(flagsOf(files))}) _files; return ;;
    ${anyOf(flagsOf(others))}) return 1 ;;
  esac
  case $command in
    '') choices=(${candidates(tree.commands)}) flags=(${candidates(tree.options)}) ;;
${tree.commands.map((command) => branch(tree, command)).join('\n')}
  esac
  (($#choices)) && _describe -t commands ${tree.name} choices && found=0
  _describe -o -t options option flags && found=0
  case $command in
    ${anyOf(namesOf({ commands: tree.commands.filter(({ takesFile }) => takesFile) }))}) _files && found=0 ;;
  esac
  return found
}
# A file of $fpath runs for the first completion itself, so it must complete at once.
if [[ $funcstack[1] == _${tree.name} ]]; then _${tree.name} "$@"; else compdef _${tree.name} ${tree.name}; fi`;
}

const namesOf = ({ commands }: Pick<CommandTree, 'commands'>) => commands.map(({ name }) => name);

function branch(tree: CommandTree, command: CommandNode): string {
  const choices = candidates(command.choices.map((name) => ({ name, description: '' })));
  return `    ${command.name}) choices=(${choices}) flags=(${candidates(optionsOf(tree, command))}) ;;`;
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
