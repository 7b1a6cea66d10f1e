/** Finds what an expression begins with: `workflow`, or a step. */
type FindRoot = (name: string) => unknown;

/** Replaces the expressions in all texts of a plain value. */
export function fillTexts(value: unknown, rootOf: FindRoot): unknown {
  if (Array.isArray(value)) return value.map((each) => fillTexts(each, rootOf));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, fillTexts(each, rootOf)]),
    );
  }
  if (typeof value !== 'string') return value;
  const whole = /^\$\{([^}]*)\}$/.exec(value);
  if (whole !== null) return look(whole[1], rootOf);
  return value.replaceAll(/\$\{([^}]*)\}/g, (_, path: string) => {
    const found = look(path, rootOf);
    return typeof found === 'string' ? found : JSON.stringify(found);
  });
}

/** Looks a path up in plain objects; null when it leads nowhere. */
function look(source: string, rootOf: FindRoot): unknown {
  const isLength = source.endsWith('.length()');
  const [root = '', ...path] = source.replace('.length()', '').match(/[^.[\]]+/g) ?? [];
  let found = rootOf(root);
  for (const [place, name] of path.entries()) {
    if (name === '*') {
      const rest = path.slice(place + 1);
      const isNested = typeof found === 'object' && found !== null;
      const each = isNested ? Object.values(found as object) : [];
      found = each.flatMap((element) => {
        const inner = rest.reduce<unknown>((at, key) => member(at, key), element);
        return inner === undefined ? [] : [inner];
      });
      break;
    }
    found = member(found, name);
  }
  if (isLength) return Array.isArray(found) ? found.length : null;
  return found ?? null;
}

function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(name) ? value.at(Number(name)) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
