import { visibleText } from '../base/visible-text.ts';

/** Maximum number of types that are looked up; later ones are not. */
const TYPES_MAX = 1000;

const TYPE_CHARACTERS_MAX = 128;

export interface NamedTypesOptions {
  /** The definition that the server has of a type; undefined when it has none. */
  readonly registered: (type: string) => Promise<object | undefined>;
  readonly warn: (message: string) => void;
}

/**
 * Warns about each type that is submitted by name although the server has no definition of it, once
 * per client. Such a task has none of the options that its definition may have elsewhere.
 */
export class NamedTypes {
  private readonly options: NamedTypesOptions;
  private readonly seen = new Set<string>();

  constructor(options: NamedTypesOptions) {
    this.options = options;
  }

  /** `sent` resolves when the tasks are stored. */
  submitted(type: string, sent: Promise<unknown>): void {
    if (this.seen.has(type) || this.seen.size >= TYPES_MAX) return;
    this.seen.add(type);
    sent.then(
      // A key may not be allowed to read definitions; then there is nothing to warn about.
      () => this.check(type).catch(() => undefined),
      () => this.seen.delete(type),
    );
  }

  private async check(type: string): Promise<void> {
    const { registered, warn } = this.options;
    if ((await registered(type)) !== undefined) return;
    const name = `'${visibleText(type, TYPE_CHARACTERS_MAX)}'`;
    warn(
      `tasks of the type ${name} are submitted by name, but the type is not registered, so the ` +
        "server's defaults apply; use sluice.register, or submit with the definition",
    );
  }
}
