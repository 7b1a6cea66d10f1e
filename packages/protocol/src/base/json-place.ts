const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A path is for people; this many levels suffice to find the place. */
const PATH_LEVELS_MAX = 100;

/** Maximum length of a name that is kept, as written in the text; none of our names is as long. */
const NAME_MAX = 200;

/**
 * Walks through a valid JSON text, forwards only, and knows the current place in it.
 *
 * Every character is read a bounded number of times, whatever the text: a name is cut and decoded
 * once, when it is passed, and never read again (`steps` counts it).
 */
export class JsonPlace {
  private readonly text: string;
  private at = 0;
  /** Per level the index in an array, or the name in an object, which may be cut. */
  readonly levels: (number | string)[] = [];
  /** Per level the number of its array or object, counted from the first that was opened. */
  readonly opened: number[] = [];
  private openings = 0;
  private isName = false;
  /** Number of characters read so far. */
  steps = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Moves to `index`; returns false when it is inside a string or was passed. */
  moveTo(index: number): boolean {
    while (this.at < index) this.step();
    return this.at === index;
  }

  /** The current value's place, as a JSON pointer. */
  path(): string {
    return this.levels
      .slice(0, PATH_LEVELS_MAX)
      .map((level) => `/${typeof level === 'string' ? escapePointer(level) : level}`)
      .join('');
  }

  /**
   * Moves behind the next name of an object and returns the complete name as written in the text;
   * undefined when there is none left.
   */
  nextName(): string | undefined {
    while (this.at < this.text.length) {
      const isName = this.isName && this.text.charCodeAt(this.at) === QUOTE;
      const start = this.at;
      this.step();
      if (isName) return this.text.slice(start, this.at);
    }
    return undefined;
  }

  private step(): void {
    const { levels } = this;
    const unit = this.text.charCodeAt(this.at);
    this.at += 1;
    this.steps += 1;
    switch (unit) {
      case QUOTE:
        this.passText();
        break;
      case OPEN_ARRAY:
        this.open(0);
        this.isName = false;
        break;
      case OPEN_OBJECT:
        this.open('');
        this.isName = true;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        levels.pop();
        this.opened.pop();
        this.isName = false;
        break;
      case COLON:
        this.isName = false;
        break;
      case COMMA: {
        const level = levels[levels.length - 1];
        if (typeof level === 'number') levels[levels.length - 1] = level + 1;
        else this.isName = true;
        break;
      }
    }
  }

  private open(level: number | string): void {
    this.levels.push(level);
    this.openings += 1;
    this.opened.push(this.openings);
  }

  private passText(): void {
    const start = this.at;
    const end = endOfText(this.text, start);
    this.steps += end - start;
    this.at = end + 1;
    if (!this.isName) return;
    this.steps += Math.min(end - start, NAME_MAX);
    this.levels[this.levels.length - 1] = nameIn(this.text, start, end);
  }
}

/** The position of the quote that ends the string whose first character is at `start`. */
export function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (isEscaped(text, end, start)) end = text.indexOf('"', end + 1);
  return end;
}

/** Every backslash is read once: between it and the next quote there is no other quote. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let at = quote - 1;
  while (at >= start && text.charCodeAt(at) === BACKSLASH) at -= 1;
  return (quote - 1 - at) % 2 === 1;
}

function nameIn(text: string, start: number, end: number): string {
  const isCut = end - start > NAME_MAX;
  const raw = text.slice(start, isCut ? start + NAME_MAX : end);
  if (isCut) return `${raw}…`;
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
