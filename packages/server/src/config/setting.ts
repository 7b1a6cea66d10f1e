import type { TSchema } from 'typebox';

/** One setting, as the loader, the help and the documents see it. */
export interface Setting {
  /** The path in the file, joined by dots. */
  readonly path: string;
  readonly flag: string;
  readonly variable: string;
  readonly kind: 'text' | 'whole' | 'boolean' | 'choice' | 'list';
  /** The values of a `choice`. */
  readonly choices: readonly string[];
  readonly schema: TSchema;
  readonly description: string;
  readonly default: unknown;
  readonly defaultText: string;
  readonly secret: boolean;
  /** A value of a secret that has this form is none, and may be a flag. */
  readonly openForm: RegExp | undefined;
}

/** The parts of a schema that settings are made from. */
interface SchemaParts {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly anyOf?: readonly { readonly const?: unknown }[];
  readonly description?: string;
  readonly default?: unknown;
  readonly flag?: string;
  readonly defaultText?: string;
  readonly secret?: boolean;
  readonly openForm?: RegExp;
}

/** The flag that names the file with a secret, because the process list shows flag values. */
export function fileFlag({ flag }: Pick<Setting, 'flag'>): string {
  return `${flag}-file`;
}

/** All settings of a schema, in its order. */
export function settingsOf(schema: TSchema, path = ''): Setting[] {
  const { properties } = schema as SchemaParts;
  if (properties === undefined) return [makeSetting(schema, path)];
  return Object.entries(properties).flatMap(([name, part]) =>
    settingsOf(part, path === '' ? name : `${path}.${name}`),
  );
}

function makeSetting(schema: TSchema, path: string): Setting {
  const parts = schema as SchemaParts;
  const words = path.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const name = words.replaceAll('.', '-');
  return {
    path,
    flag: parts.flag ?? name,
    variable: `SLUICE_${name.replaceAll('-', '_').toUpperCase()}`,
    kind: kindOf(parts),
    choices: (parts.anyOf ?? []).map((choice) => String(choice.const)),
    schema,
    description: parts.description ?? '',
    default: parts.default,
    defaultText: parts.defaultText ?? textOf(parts.default),
    secret: parts.secret ?? false,
    openForm: parts.openForm,
  };
}

function kindOf({ type, anyOf }: SchemaParts): Setting['kind'] {
  if (anyOf !== undefined) return 'choice';
  if (type === 'integer') return 'whole';
  if (type === 'boolean') return 'boolean';
  return type === 'array' ? 'list' : 'text';
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') || 'none' : String(value);
}
