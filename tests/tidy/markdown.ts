/** Reads headings and links from Markdown, as GitHub understands them. */

interface Heading {
  readonly level: number;
  readonly line: number;
  /** What a link to the heading says after `#`. */
  readonly slug: string;
}

interface Link {
  readonly line: number;
  readonly target: string;
}

const INLINE_LINK = /\]\(\s*(?:<([^>]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+["'(][^)]*)?\s*\)/g;
const REFERENCE = /^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s>]+)>?/g;
const HTML_ATTRIBUTE = /<(?:a|img|source)\b[^>]*?\s(?:href|src)="([^"]*)"/g;
const HTML_ANCHOR = /<\w+\b[^>]*?\s(?:id|name)="([^"]*)"/g;

export function findHeadings(text: string): Heading[] {
  const seen = new Map<string, number>();
  const lines = blankFences(text);

  return lines.flatMap((_, index) => {
    const heading = headingAt(lines, index);
    if (heading === undefined) return [];
    const slug = slugOf(heading.title);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return [
      { level: heading.level, line: index + 1, slug: count === 0 ? slug : `${slug}-${count}` },
    ];
  });
}

/** Everything a link may name after `#`: headings, and ids given in HTML. */
export function findAnchors(text: string): Set<string> {
  const ids = blankFences(text).flatMap((line) => [...line.matchAll(HTML_ANCHOR)]);
  return new Set([...findHeadings(text).map(({ slug }) => slug), ...ids.map((match) => match[1])]);
}

export function findLinks(text: string): Link[] {
  return blankFences(text).flatMap((line, index) => {
    const prose = line.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, (code) => '·'.repeat(code.length));
    return [INLINE_LINK, REFERENCE, HTML_ATTRIBUTE]
      .flatMap((pattern) => [...prose.matchAll(pattern)])
      .map((match) => ({ line: index + 1, target: match[1] ?? match[2] ?? '' }));
  });
}

function headingAt(
  lines: readonly string[],
  index: number,
): { level: number; title: string } | undefined {
  const hashes = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/.exec(lines[index]);
  if (hashes !== null) return { level: hashes[1].length, title: hashes[2] ?? '' };
  const isUnderlined = /^=+\s*$/.test(lines[index + 1] ?? '') && lines[index].trim() !== '';
  return isUnderlined ? { level: 1, title: lines[index].trim() } : undefined;
}

/** GitHub's rule: the visible text in lower case, without punctuation, a hyphen for each space. */
function slugOf(title: string): string {
  return title
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]+>/g, '')
    .replace(/(?<![\p{L}\p{N}])_([^_]+)_(?![\p{L}\p{N}])/gu, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The lines of a text, empty where they belong to a fenced code block. */
function blankFences(text: string): string[] {
  let fence: string | undefined;
  return text.split('\n').map((line) => {
    const mark = /^\s*(?:>\s*)?(?:[-*]\s+|\d+\.\s+)?(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence === undefined) {
      if (mark === null || mark[2].includes('`')) return line;
      fence = mark[1];
      return '';
    }
    if (mark?.[1].startsWith(fence) === true && mark[2].trim() === '') fence = undefined;
    return '';
  });
}
