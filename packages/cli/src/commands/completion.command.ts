import { type Command, defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';

type Commands = Readonly<Record<string, Command>>;

const SHELLS: Readonly<Record<string, (words: readonly Words[]) => string>> = {
  bash: bashScript,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`,
  fish: fishScript,
};

/** Words that may follow the beginning of a command line. */
interface Words {
  /** The words so far, without `sluice`. */
  readonly after: string;
  readonly commands: readonly string[];
  readonly flags: readonly string[];
}

/** Prints a script that lets a shell complete all other commands. */
export function completionOf(commands: () => Commands): Command {
  return defineCommand({
    name: 'completion',
    summary: 'Print a script that completes commands in a shell',
    args: ['SHELL'],
    flags: {},
    examples: [
      'source <(sluice completion bash)',
      'sluice completion zsh > ~/.zfunc/_sluice',
      'sluice completion fish > ~/.config/fish/completions/sluice.fish',
    ],
    run: async ({ args: [shell] }, io) => {
      const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
      if (script === undefined) {
        const known = Object.keys(SHELLS).join(', ');
        throw new UsageError(`no completion for '${shell}'; there is one for ${known}`);
      }
      io.stdout(script(wordsOf(commands(), '')));
      return ExitCode.done;
    },
  });
}

function wordsOf(commands: Commands, after: string): Words[] {
  return [
    { after, commands: Object.keys(commands), flags: ['--help'] },
    ...Object.entries(commands).flatMap(([name, command]) => {
      const path = `${after} ${name}`.trim();
      if (command.commands !== undefined) return wordsOf(command.commands, path);
      return [{ after: path, commands: [], flags: command.flags.map((flag) => `--${flag}`) }];
    }),
  ];
}

function bashScript(words: readonly Words[]): string {
  const cases = words.map(({ after, commands, flags }) => {
    return `    '${after}') words='${[...commands, ...flags].join(' ')}' ;;`;
  });
  return `_sluice() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
    [ -n "$words" ] || [ -z "$path" ] && break
    case "$path" in *' '*) path="\${path% *}" ;; *) path='' ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sluice sluice`;
}

function fishScript(words: readonly Words[]): string {
  const lines = words.flatMap(({ after, commands, flags }) => {
    const seen =
      after === '' ? [] : after.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
    const none =
      commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${commands.join(' ')}`];
    const when = [...seen, ...none].join('; and ');
    const condition = when === '' ? '' : ` -n '${when}'`;
    return [
      ...commands.map((command) => `complete -c sluice -f${condition} -a ${command}`),
      ...flags.map((flag) => `complete -c sluice${condition} -l ${flag.replace('--', '')}`),
    ];
  });
  return lines.join('\n');
}
