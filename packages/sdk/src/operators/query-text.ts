/** Conditions as the query of an address. Those that are undefined or null are left out. */
export function queryText(query: object): string {
  const given = Object.entries(query).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined || value === null) return [];
    const text = value instanceof Date ? value.toISOString() : String(value);
    return [[name, text] as [string, string]];
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
