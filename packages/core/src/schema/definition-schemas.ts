import { schemaProblems, usableSchema } from './read-schema.ts';
import { isFields, type Schema, type SchemaProblem } from './schema-form.ts';

/** What a definition says about the input and the output of its runs. */
export interface DefinitionSchemas {
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
}

const FIELDS = ['inputSchema', 'outputSchema'] as const;

/** Languages of schemas that Conductor names. */
const LANGUAGES = ['JSON', 'AVRO', 'PROTOBUF'];

type Fields = Readonly<Record<string, unknown>>;

/**
 * The schemas of a definition that was accepted. A schema that cannot be used has no effect:
 * definitions from before schemas were checked must still compile.
 */
export function schemasOf(definition: Fields): DefinitionSchemas {
  const [input, output] = FIELDS.map((field) => {
    const { schema } = written(definition, field);
    return schema === undefined ? undefined : usableSchema(schema);
  });
  return { input, output };
}

/** Everything that is wrong with the schemas of a new definition. */
export function definitionSchemaProblems(definition: unknown): SchemaProblem[] {
  if (!isFields(definition)) return [];
  const { enforceSchema = true } = definition;
  if (typeof enforceSchema !== 'boolean') {
    return [{ path: '/enforceSchema', problem: 'must be true or false' }];
  }
  return FIELDS.flatMap((field) => {
    const { schema, path, problem } = written(definition, field);
    if (problem !== undefined) return [{ path, problem }];
    return schema === undefined ? [] : schemaProblems(schema, path);
  });
}

interface Written {
  readonly schema?: unknown;
  readonly path: string;
  readonly problem?: string;
}

/** Our form is the schema itself. Conductor's is `{name, version, type: "JSON", data: schema}`. */
function written(definition: Fields, field: (typeof FIELDS)[number]): Written {
  const given = definition[field];
  const path = `/${field}`;
  if (given === undefined || given === null || definition.enforceSchema === false) return { path };
  if (!isFields(given)) return { path, problem: 'must be a JSON Schema, which is an object' };
  const { type, data } = given;
  const isConductors = LANGUAGES.includes(String(type)) || data !== undefined;
  if (!isConductors) return { schema: given, path };
  if (type !== undefined && type !== 'JSON') {
    return { path: `${path}/type`, problem: 'must be "JSON": other languages are not supported' };
  }
  if (!isFields(data)) {
    const problem = 'must be a JSON Schema: schemas that are registered by name are not supported';
    return { path: `${path}/data`, problem };
  }
  return { schema: data, path: `${path}/data` };
}
