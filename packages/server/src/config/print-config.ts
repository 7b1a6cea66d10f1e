import { stringify } from 'yaml';
import type { Given } from './load-config.ts';
import { type Setting, settingsOf } from './setting.ts';
import { Settings } from './settings.ts';

const HIDDEN = '(hidden)';

/** The effective configuration as YAML, each value with its source; secrets are hidden. */
export function printConfig(given: ReadonlyMap<string, Given>): string {
  return printSettings(settingsOf(Settings), given);
}

export function printSettings(
  settings: readonly Setting[],
  given: ReadonlyMap<string, Given>,
): string {
  const lines: string[] = [];
  let open: readonly string[] = [];
  for (const setting of settings) {
    const names = setting.path.split('.');
    const groups = names.slice(0, -1);
    groups.forEach((group, depth) => {
      if (open[depth] !== group) lines.push(`${'  '.repeat(depth)}${group}:`);
    });
    open = groups;
    const { value, source } = given.get(setting.path) ?? { value: undefined, source: '' };
    if (value === undefined) continue;
    // An unset secret may be shown as empty.
    const isHidden = setting.secret && value !== '';
    const text = stringify(isHidden ? HIDDEN : value, {
      collectionStyle: 'flow',
      lineWidth: 0,
    }).trim();
    lines.push(`${'  '.repeat(groups.length)}${names.at(-1)}: ${text} # ${source}`);
  }
  return lines.join('\n');
}
