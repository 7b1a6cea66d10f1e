/** Variables of a command: some are secret. */
export type Variables = Readonly<Record<string, string | { readonly secret: string }>>;

/** A shorter secret would be found in too many lines that do not have it. */
const SECRET_CHARACTERS_MIN = 4;

export function plainVariables(env: Variables): Record<string, string> {
  const entries = Object.entries(env).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : value.secret];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Replaces every secret in a line: those of variables, and others. */
export function redactor(env: Variables, others: readonly string[] = []): (line: string) => string {
  const variables = Object.values(env).flatMap((value) => {
    return typeof value === 'string' ? [] : value.secret;
  });
  const secrets = [...variables, ...others]
    .flatMap((secret) => secret.split('\n'))
    .filter(({ length }) => length >= SECRET_CHARACTERS_MIN)
    // The longest first: one secret may be the beginning of another.
    .sort((a, b) => b.length - a.length);
  if (secrets.length === 0) return (line) => line;
  return (line) => secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line);
}
