/** Styles for a terminal, unless `NO_COLOR` is set; without a terminal they do nothing. */
export interface Styles {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] };

/** Matches the escape sequences of the styles, as a group. */
export const STYLE_SEQUENCE = new RegExp(
  `(\u001b\\[(?:${[...new Set(Object.values(CODES).flat())].join('|')})m)`,
);

export function stylesFor({ isTerminal, env }: Screen): Styles {
  const hasColour = isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  const style = ([on, off]: readonly number[]) => {
    return (text: string) => (hasColour ? `\u001b[${on}m${text}\u001b[${off}m` : text);
  };
  return {
    bold: style(CODES.bold),
    dim: style(CODES.dim),
    red: style(CODES.red),
    green: style(CODES.green),
    yellow: style(CODES.yellow),
  };
}

interface Screen {
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The state of a task as it is shown. */
export function stateText(state: string, styles: Styles): string {
  if (state === 'succeeded') return styles.green(state);
  if (['failed', 'timed_out', 'expired'].includes(state)) return styles.red(state);
  return ['running', 'leased'].includes(state) ? styles.yellow(state) : state;
}
