import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import {
  ConfigError,
  type ConfigSources,
  flagsHelp,
  flagTypes,
  type LoadedConfig,
  loadConfig,
  printConfig,
  serverOptions,
} from '@sluice/server';
import { type CommandIo, ExitCode } from './base/exit-code.ts';
import { flagProblem, UsageError } from './base/usage-error.ts';
import { VERSION } from './base/version.ts';
import { serve } from './serve.ts';

/** The text of `--help`. It is stored in server-help.txt, which is faster to read than to make. */
export function serverHelp(): string {
  return `Run a server, configured by a file, environment variables and flags.

Usage: sluice server [--config FILE] [--host H] [--port N] [--data DIR] …

  --config FILE
      YAML file with settings (also SLUICE_CONFIG)
  --print-config
      print the effective configuration with the source of each value, and exit
  --help
      show this help

Settings. Each can be set in the file, as an environment variable SLUICE_…, or as a flag. Flags
override the environment, and the environment overrides the file. See docs/configuration.md.

${flagsHelp()}

Examples:
  sluice server --config /etc/sluice.yaml
  SLUICE_PORT=8000 sluice server --data /var/lib/sluice --print-config`;
}

const OPTIONS = {
  ...flagTypes(),
  config: { type: 'string' },
  'print-config': { type: 'boolean' },
} as const;

/** `--help` is answered before the flags are read. */
const KNOWN_FLAGS = [...Object.keys(OPTIONS), 'help'];

/** Runs a server with this configuration until it is told to stop. */
export async function runServer(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const { config, ...flags } = parseFlags(args);
  const name = typeof config === 'string' ? config : io.env.SLUICE_CONFIG;
  const loaded = await loadOrExplain({ flags, name }, io);
  if (loaded === undefined) return ExitCode.usage;
  for (const warning of loaded.warnings) io.stderr(`sluice: ${warning}`);
  if (flags['print-config'] === true) {
    io.stdout(printConfig(loaded.given));
    return ExitCode.done;
  }
  return serve(serverOptions(loaded.config), io, {
    greeting: (url) => `Sluice ${VERSION} is ready at ${url}`,
  });
}

function parseFlags(args: readonly string[]): ConfigSources['flags'] {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false })
      .values as ConfigSources['flags'];
  } catch (cause) {
    throw new UsageError(flagProblem(cause as NodeJS.ErrnoException, KNOWN_FLAGS), {
      cause,
    });
  }
}

interface Given {
  readonly flags: ConfigSources['flags'];
  /** Name of the configuration file. */
  readonly name: string | undefined;
}

async function loadOrExplain(
  { flags, name }: Given,
  io: CommandIo,
): Promise<LoadedConfig | undefined> {
  const file = name === undefined ? undefined : { name, text: await readText(name) };
  try {
    return loadConfig({ flags, env: io.env, ...(file === undefined ? {} : { file }) });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    io.stderr(`sluice: ${error.message}`);
    return undefined;
  }
}

async function readText(name: string): Promise<string> {
  try {
    return await readFile(name, 'utf8');
  } catch (cause) {
    const problem = `cannot read the configuration: ${(cause as Error).message}`;
    throw new UsageError(problem, { cause });
  }
}
