/** Something in a definition that cannot work. */
export interface DefinitionProblem {
  /** JSON pointer into the definition. */
  readonly path: string;
  readonly code: string;
  /** What is wrong and what to do. */
  readonly message: string;
}

/** An object of a definition and where it is. */
export interface Place {
  readonly value: Readonly<Record<string, unknown>>;
  readonly path: string;
}

/** Collects every problem of a definition, so that its author sees all of them at once. */
export class Problems {
  readonly list: DefinitionProblem[] = [];

  add(path: string, code: string, message: string): void {
    this.list.push({ path: path === '' ? '/' : path, code, message });
  }

  /** A text that must be there. */
  text({ value, path }: Place, field: string): string {
    const found = value[field];
    if (typeof found === 'string' && found !== '') return found;
    const what = found === undefined ? 'is missing' : 'is no text';
    this.add(`${path}/${field}`, 'missing_field', `${field} ${what}; give it a text`);
    return '';
  }

  flag({ value, path }: Place, field: string): boolean {
    const found = value[field] ?? false;
    if (typeof found !== 'boolean') {
      this.add(`${path}/${field}`, 'bad_field', `${field} must be true or false`);
    }
    return found === true;
  }

  /** A whole number from 0 on. */
  count({ value, path }: Place, field: string, most: number): number | undefined {
    const found = value[field] ?? undefined;
    if (found === undefined) return undefined;
    if (Number.isInteger(found) && (found as number) >= 0 && (found as number) <= most) {
      return found as number;
    }
    this.add(`${path}/${field}`, 'bad_field', `${field} must be a whole number from 0 to ${most}`);
    return undefined;
  }

  object({ value, path }: Place, field: string): Readonly<Record<string, unknown>> {
    const found = value[field] ?? {};
    if (isObject(found)) return found;
    this.add(`${path}/${field}`, 'bad_field', `${field} must be an object`);
    return {};
  }

  array({ value, path }: Place, field: string): readonly unknown[] {
    const found = value[field] ?? [];
    if (Array.isArray(found)) return found;
    this.add(`${path}/${field}`, 'bad_field', `${field} must be an array`);
    return [];
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name as it stands in a JSON pointer. */
export function pointerOf(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
