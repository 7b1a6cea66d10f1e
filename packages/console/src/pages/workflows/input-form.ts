/** A JSON Schema of plain fields as a form. Any other schema is edited as JSON. */

export interface FormField {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'choice';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly hint: string;
}

interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: unknown;
}

const KINDS: Readonly<Record<string, FormField['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};

/** Undefined if the schema has fields that a form cannot show. */
export function formFields(schema: unknown): readonly FormField[] | undefined {
  const { properties, required = [] } = (schema ?? {}) as Schema;
  if (properties === undefined) return undefined;
  const fields = Object.entries(properties).map(([name, field]): FormField | undefined => {
    const isChoice =
      Array.isArray(field.enum) && field.enum.every((each) => typeof each === 'string');
    const kind = isChoice ? 'choice' : KINDS[String(field.type)];
    if (kind === undefined) return undefined;
    return {
      name,
      kind,
      choices: isChoice ? (field.enum as string[]) : [],
      isRequired: required.includes(name),
      hint: typeof field.description === 'string' ? field.description : '',
    };
  });
  return fields.every((field) => field !== undefined) ? (fields as FormField[]) : undefined;
}

/** The text of a field as a value; an empty optional one is left out. */
export function enteredValue({ kind }: Pick<FormField, 'kind'>, text: string): unknown {
  if (kind === 'boolean') return text === 'true';
  if (text === '') return undefined;
  return kind === 'number' ? Number(text) : text;
}
