import { readFileSync } from 'node:fs';
import { suggest } from '@sluice/protocol/suggestion';
import type { TSchema } from 'typebox';
import { isMap, parseDocument } from 'yaml';
import { Checker } from '../base/validation.ts';
import { relationProblems } from './relations.ts';
import { fileFlag, type Setting, settingsOf } from './setting.ts';
import { type Configuration, Settings } from './settings.ts';

/** Sources of values, the strongest first: flags, environment, file, defaults. */
export interface ConfigSources {
  /** By flag name, without dashes. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file?: { readonly name: string; readonly text: string };
  /** Reads a file that holds a secret. */
  readonly readSecret?: (name: string) => string;
}

/** A value and its source. */
export interface Given {
  readonly value: unknown;
  /** `flag --port`, `environment SLUICE_PORT`, `file sluice.yaml`, or `default`. */
  readonly source: string;
}

export interface LoadedConfig {
  readonly config: Configuration;
  /** Every setting, by path. */
  readonly given: ReadonlyMap<string, Given>;
  /** Values that are probably a mistake but do no harm. */
  readonly warnings: readonly string[];
}

/** The configuration is invalid. Every problem is named with its source and path. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the configuration is not valid:\n${problems.map((each) => `  ${each}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Variables with our prefix that other parts of Sluice read. */
const OTHER_VARIABLES = new Set([
  'SLUICE_URL',
  'SLUICE_API_KEY',
  'SLUICE_CONFIG',
  'SLUICE_FOLLOW_OWNER',
]);

/**
 * Kubernetes tells every container about a service named `sluice` in variables that look like
 * ours: this one holds an address.
 */
const SERVICE_LINK = /^tcp:\/\//;

/** Merges all sources, or throws a `ConfigError` that names every problem. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { given, problems } = collect(settingsOf(Settings), sources);
  if (problems.length > 0) throw new ConfigError(problems);
  const config = build(Settings, given) as Configuration;
  const unrelated = relationProblems(config, (path) => given.get(path)?.source ?? 'default');
  if (unrelated.length > 0) throw new ConfigError(unrelated);
  return { config, given, warnings: strayVariables(sources.env) };
}

interface Collected {
  readonly given: Map<string, Given>;
  readonly problems: string[];
}

/** Every value of every source is checked, also one that a stronger source overrides. */
export function collect(settings: readonly Setting[], sources: ConfigSources): Collected {
  const given = new Map<string, Given>();
  const problems: string[] = [];
  const fileValues = readFile(settings, sources.file, problems);
  for (const setting of settings) {
    const { path, variable, flag } = setting;
    given.set(path, { value: setting.default, source: 'default' });
    const values = [
      { value: fileValues.get(path), source: `file ${sources.file?.name ?? ''}` },
      { value: fromVariable(setting, sources.env[variable]), source: `environment ${variable}` },
      setting.secret
        ? secretFrom(setting, sources, problems)
        : { value: fromText(setting, sources.flags[flag]), source: `flag --${flag}` },
    ];
    for (const each of values) {
      if (each.value === undefined) continue;
      const found = problemsOf(setting, each.value);
      problems.push(...found.map((problem) => `${each.source}: ${path} ${problem}`));
      given.set(path, each);
    }
  }
  return { given, problems };
}

/**
 * A secret comes from a file or the environment: every user of the machine can read a process's
 * flags.
 */
function secretFrom(setting: Setting, sources: ConfigSources, problems: string[]): Given {
  const { flag, path, variable } = setting;
  const source = `flag --${fileFlag(setting)}`;
  const open = sources.flags[flag];
  if (typeof open === 'string' && setting.openForm?.test(open)) {
    return { value: open, source: `flag --${flag}` };
  }
  if (open !== undefined) {
    const instead = `give --${fileFlag(setting)} FILE or set ${variable}`;
    problems.push(`flag --${flag}: ${path} would be visible in the list of processes; ${instead}`);
  }
  const name = sources.flags[fileFlag(setting)];
  if (typeof name !== 'string') return { value: undefined, source };
  const read = sources.readSecret ?? ((file) => readFileSync(file, 'utf8'));
  try {
    return { value: read(name).trim(), source };
  } catch (cause) {
    problems.push(`${source}: ${path} cannot be read: ${(cause as Error).message}`);
    return { value: undefined, source };
  }
}

function problemsOf({ schema, kind, choices, secret }: Setting, value: unknown): string[] {
  const checker = new Checker(schema);
  if (checker.accepts(value)) return [];
  const shown = secret ? '' : `, not ${JSON.stringify(value)}`;
  if (kind === 'choice') {
    const near = suggest(String(value), choices);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    return [`must be one of ${choices.join(', ')}${shown}${hint}`];
  }
  return checker.problems(value).map(({ path, problem }) => {
    return `${path === '' ? '' : `${path} `}${problem}${shown}`;
  });
}

function fromVariable(setting: Setting, text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  if (setting.path === 'port' && SERVICE_LINK.test(text)) return undefined;
  return fromText(setting, text);
}

/** Text that does not fit its kind stays text, so that the check can say what is wrong with it. */
function fromText({ kind }: Setting, text: string | boolean | undefined): unknown {
  if (typeof text !== 'string') return text;
  if (kind === 'whole' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (kind === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  if (kind === 'list') return text.split(',').map((item) => item.trim());
  return text;
}

function readFile(
  settings: readonly Setting[],
  file: ConfigSources['file'],
  problems: string[],
): Map<string, unknown> {
  const values = new Map<string, unknown>();
  if (file === undefined) return values;
  const document = parseDocument(file.text, { prettyErrors: true });
  for (const { message } of document.errors) {
    problems.push(`file ${file.name}: ${message.split('\n')[0].replace(/:$/, '')}`);
  }
  if (document.errors.length > 0 || document.contents === null) return values;
  if (!isMap(document.contents)) {
    problems.push(`file ${file.name}: must contain settings, such as 'port: 7420'`);
    return values;
  }
  const known = new Set(settings.map(({ path }) => path));
  const walk = (value: unknown, path: string): void => {
    if (known.has(path)) {
      values.set(path, value);
    } else if (isGroup(settings, path) && typeof value === 'object' && value !== null) {
      const prefix = path === '' ? '' : `${path}.`;
      for (const [name, part] of Object.entries(value)) walk(part, `${prefix}${name}`);
    } else {
      const problem = isGroup(settings, path) ? 'must contain settings' : 'is not a known setting';
      problems.push(`file ${file.name}: ${path} ${problem}`);
    }
  };
  walk(document.toJS({ maxAliasCount: 0 }), '');
  return values;
}

function isGroup(settings: readonly Setting[], path: string): boolean {
  return path === '' || settings.some((setting) => setting.path.startsWith(`${path}.`));
}

function build(schema: TSchema, given: ReadonlyMap<string, Given>, path = ''): unknown {
  const { properties } = schema as { properties?: Record<string, TSchema> };
  if (properties === undefined) return given.get(path)?.value;
  const entries = Object.entries(properties).map(([name, part]) => {
    return [name, build(part, given, path === '' ? name : `${path}.${name}`)];
  });
  return Object.fromEntries(entries);
}

/** A misspelt variable would silently do nothing. */
function strayVariables(env: ConfigSources['env']): string[] {
  const known = new Set(settingsOf(Settings).map(({ variable }) => variable));
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && !known.has(name) && !OTHER_VARIABLES.has(name))
    .map((name) => `environment ${name} is not a setting of the server`);
}
