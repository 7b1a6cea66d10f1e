const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A path is for people: deeper than this it says where to look, too. */
const PATH_LEVELS_MAX = 100;

/** Walks through a text that is valid JSON, forwards alone, and says where in it one is. */
export class JsonPlace {
  private readonly text: string;
  private at = 0;
  /** Per level the index in an array, or where the name in an object starts, as -1 and below. */
  private readonly levels: number[] = [];
  private isName = false;

  constructor(text: string) {
    this.text = text;
  }

  /** Goes on to `index`; false when it is inside a text, or was passed. */
  moveTo(index: number): boolean {
    while (this.at < index) this.step();
    return this.at === index;
  }

  /** Of the value where one is, as a JSON pointer. */
  path(): string {
    return this.levels
      .slice(0, PATH_LEVELS_MAX)
      .map((level) => `/${level < 0 ? this.nameAt(-1 - level) : level}`)
      .join('');
  }

  private step(): void {
    const { levels } = this;
    const unit = this.text.charCodeAt(this.at);
    this.at += 1;
    switch (unit) {
      case QUOTE:
        if (this.isName) levels[levels.length - 1] = -this.at;
        this.at = this.endOfText(this.at);
        break;
      case OPEN_ARRAY:
        levels.push(0);
        this.isName = false;
        break;
      case OPEN_OBJECT:
        levels.push(-1);
        this.isName = true;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        levels.pop();
        this.isName = false;
        break;
      case COLON:
        this.isName = false;
        break;
      case COMMA:
        if (levels[levels.length - 1] < 0) this.isName = true;
        else levels[levels.length - 1] += 1;
        break;
    }
  }

  /** Behind the quote that ends the text that `start` is in. */
  private endOfText(start: number): number {
    let at = start;
    while (this.text.charCodeAt(at) !== QUOTE) {
      at += this.text.charCodeAt(at) === BACKSLASH ? 2 : 1;
    }
    return at + 1;
  }

  private nameAt(quote: number): string {
    const json = this.text.slice(quote, this.endOfText(quote + 1));
    const name = JSON.parse(json) as string;
    return name.replaceAll('~', '~0').replaceAll('/', '~1');
  }
}
