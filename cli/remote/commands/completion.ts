import { Command } from 'commander';
import { UsageError } from '../../format-error.ts';
import { write } from '../../print.ts';
import { completionsFor } from '../completions.ts';

export function completionCommand(): Command {
  return new Command('completion')
    .description('print the completion script of a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) => {
      const script = scripts[shell];
      if (script === undefined) throw new UsageError('Expected bash, zsh or fish.');
      write(script);
    });
}

/** Called by the scripts with the words of the line; the last one is being completed. */
export function completeCommand(): Command {
  return new Command('complete')
    .argument('[words...]')
    .action(async (words: string[], _options: object, command: Command) => {
      const found = await completionsFor(command.parent ?? command, words);
      if (found.length > 0) write(found.join('\n'));
    });
}

const scripts: Record<string, string> = {
  bash: `_flowrun() {
  local IFS=$'\\n'
  COMPREPLY=($(flowrun complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
}
complete -o default -F _flowrun flowrun`,
  zsh: `#compdef flowrun
_flowrun() {
  local -a found
  found=("\${(@f)$(flowrun complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  compadd -a found
}
compdef _flowrun flowrun`,
  fish: `complete -c flowrun -f -a '(flowrun complete -- (commandline -opc)[2..] (commandline -ct) 2> /dev/null)'`,
};
