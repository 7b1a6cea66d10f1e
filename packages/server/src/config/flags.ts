import { settingsOf } from './setting.ts';
import { Settings } from './settings.ts';

const FLAG_VALUES = { text: ' TEXT', whole: ' N', boolean: '', choice: '', list: ' A,B' } as const;

/** Flags of all settings, for the help of a command. */
export function flagsHelp(): string {
  return settingsOf(Settings)
    .map((setting) => {
      const { flag, kind, choices, description, defaultText } = setting;
      const value = kind === 'choice' ? ` ${choices.join('|')}` : FLAG_VALUES[kind];
      const wrapped = wrap(`${description.replaceAll('`', '')} (default: ${defaultText})`, 88);
      return [`  --${flag}${value}`, ...wrapped.map((line) => `      ${line}`)].join('\n');
    })
    .join('\n');
}

/** Which flags there are, as a parser of command lines wants them. */
export function flagTypes(): Record<string, { readonly type: 'string' | 'boolean' }> {
  const entries = settingsOf(Settings).map(({ flag, kind }) => {
    return [flag, { type: kind === 'boolean' ? 'boolean' : 'string' }];
  });
  return Object.fromEntries(entries);
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
