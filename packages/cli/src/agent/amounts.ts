import { UsageError } from '../base/usage-error.ts';

const UNITS: Readonly<Record<string, number>> = { m: 1, g: 1024, t: 1024 * 1024 };

/** Whole mebibytes of a size such as 512m or 4g. */
export function megabytesOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d+)?)([mgt])(?:i?b)?$/i.exec(text) ?? [];
  const megabytes = Math.ceil(Number(number) * (UNITS[unit.toLowerCase()] ?? 0));
  if (number !== undefined) return megabytes;
  throw new UsageError(`--${flag} must be a size such as 512m or 4g, not '${text}'`);
}

/** Cores, with at most three decimals. */
export function cpuOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  throw new UsageError(`--${flag} must be a number of cores such as 2 or 0.5, not '${text}'`);
}

/** Pairs such as `rack=r7`. */
export function pairsOf(
  given: readonly string[] | undefined,
  flag: string,
): Record<string, string> {
  const pairs = (given ?? []).map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--${flag} must be NAME=VALUE, not '${text}'`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}
