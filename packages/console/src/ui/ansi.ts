/** Colours of terminals in lines of logs. Other control sequences are dropped. */

export interface Span {
  readonly text: string;
  /** Names of colours and styles, as the style sheet has them. */
  readonly style: string;
}

const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are the subject.
  /\u001b\[([0-9;]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b./g;

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

interface Pen {
  colour: string;
  isBold: boolean;
  isDim: boolean;
}

export function ansiSpans(line: string): Span[] {
  const spans: Span[] = [];
  const pen: Pen = { colour: '', isBold: false, isDim: false };
  let from = 0;
  const add = (to: number) => {
    if (to > from) spans.push({ text: line.slice(from, to), style: styleOf(pen) });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    add(match.index);
    if (match[2] === 'm') applyCodes(pen, match[1]);
    from = match.index + match[0].length;
  }
  add(line.length);
  return spans;
}

function applyCodes(pen: Pen, codes: string): void {
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) Object.assign(pen, { colour: '', isBold: false, isDim: false });
    else if (code === 1) pen.isBold = true;
    else if (code === 2) pen.isDim = true;
    else if (code === 22) Object.assign(pen, { isBold: false, isDim: false });
    else if (code === 39) pen.colour = '';
    else if (code >= 30 && code <= 37) pen.colour = COLOURS[code - 30];
    else if (code >= 90 && code <= 97) pen.colour = COLOURS[code - 90];
  }
}

function styleOf({ colour, isBold, isDim }: Pen): string {
  const names = [
    colour === '' ? '' : `ansi-${colour}`,
    isBold ? 'ansi-bold' : '',
    isDim ? 'ansi-dim' : '',
  ];
  return names.filter((name) => name !== '').join(' ');
}
