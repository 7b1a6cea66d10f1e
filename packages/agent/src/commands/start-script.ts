/** Files that tell an agent which is started later how far a program came. */
export const STARTED_FILE = 'pid';
export const EXIT_FILE = 'exit';
/** What the program and all that it waited for read and wrote, as the kernel says it. */
export const DISK_USE_FILE = 'disk-use';

/**
 * The shell that starts a program. It enters the control group before the program runs, so the
 * limits hold from its first instruction. It keeps the pipes open, so a program goes on while no
 * agent reads them, and it leaves the exit code in a file for an agent that was started later. When
 * its agent is gone by then, it stays: with its last holder a pipe would lose what is in it.
 *
 * The arguments of the program are passed on as they are; no shell reads them as text.
 */
const OUTER = `
control=$1; agent=$2; shift 2
while read -r file; do
  echo $$ > "$file" || { echo "cannot enter the control group $file" >&2; exit 125; }
done < "$control/join"
echo $$ > "$control/${STARTED_FILE}"
. "$control/limits"
exec 3<>"$control/out" 4<>"$control/err"
trap : TERM INT HUP
"$@" <"$control/stdin" >&3 2>&4 3>&- 4>&-
code=$?
while read -r line; do echo "$line"; done < "/proc/$$/io" > "$control/${DISK_USE_FILE}"
echo "$code" > "$control/${EXIT_FILE}"
[ -e "/proc/$agent/exe" ] || sleep 86400
exit "$code"
`;

/**
 * Runs as the user of the command. Only here its environment is set: variables such as LD_PRELOAD
 * must not reach the shell above, which may be root. They come from a file, because everybody on
 * the host may read the arguments of a process.
 */
const INNER = `
. "$1"
cd -- "$2" || exit 126
shift 2
exec "$@"
`;

export interface StartedProgram {
  readonly control: string;
  readonly environment: string;
  readonly cwd: string;
  readonly argv: readonly string[];
  /** The user to become; undefined to stay. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** Arguments of `/bin/sh`. */
export function startArguments({
  control,
  environment,
  cwd,
  argv,
  user,
}: StartedProgram): string[] {
  const inner = ['/bin/sh', '-c', INNER, 'sluice', environment, cwd, ...argv];
  return ['-c', OUTER, 'sluice', control, String(process.pid), ...becoming(user), ...inner];
}

function becoming(user: StartedProgram['user']): string[] {
  if (user === undefined) return [];
  const { uid, gid } = user;
  const groups = ['--clear-groups', '--inh-caps=-all', '--no-new-privs'];
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, ...groups, '--'];
}

/** The environment as lines that a shell reads. */
export function environmentText(variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`);
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
