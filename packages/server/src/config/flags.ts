import { fileFlag, settingsOf } from './setting.ts';
import { Settings } from './settings.ts';

const FLAG_VALUES = { text: ' TEXT', whole: ' N', boolean: '', choice: '', list: ' A,B' } as const;

/** The flags of all settings, for the help text of a command. */
export function flagsHelp(): string {
  return settingsOf(Settings)
    .map((setting) => {
      const { kind, choices, description, defaultText, secret, openForm } = setting;
      const own = `  --${setting.flag}${valueText(kind, choices)}`;
      const flags = [
        ...(secret && openForm === undefined ? [] : [own]),
        ...(secret ? [`  --${fileFlag(setting)} FILE`] : []),
      ];
      const wrapped = wrap(`${description.replaceAll('`', '')} (default: ${defaultText})`, 88);
      return [...flags, ...wrapped.map((line) => `      ${line}`)].join('\n');
    })
    .join('\n');
}

function valueText(kind: keyof typeof FLAG_VALUES, choices: readonly string[]): string {
  return kind === 'choice' ? ` ${choices.join('|')}` : FLAG_VALUES[kind];
}

/** The flags in the form that the command-line parser takes. */
export function flagTypes(): Record<string, { readonly type: 'string' | 'boolean' }> {
  const entries = settingsOf(Settings).flatMap((setting) => {
    const { flag, kind, secret } = setting;
    const own = [flag, { type: kind === 'boolean' ? 'boolean' : 'string' }];
    // The value form of a secret is accepted by the parser, so that its refusal can name the file
    // flag.
    return secret ? [own, [fileFlag(setting), { type: 'string' }]] : [own];
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
