import { ROUTES, type Route } from '@sluice/protocol';
import { editDistance, suggest } from '@sluice/protocol/suggestion';

const PATHS = [...new Set(Object.values<Route>(ROUTES).map(({ path }) => path.split('/')))];

/** Longer words are no typos of ours, and comparing them takes time. */
const WORD_MAX = 40;

/** The path of the API that was probably meant: one word is misspelled, or `/v1` is missing. */
export function nearestPath(path: string): string | undefined {
  const given = path.split('/');
  const whole = ['', 'v1', ...given.slice(1)];
  if (PATHS.some((known) => wrongWords(known, whole).length === 0)) return whole.join('/');
  let best: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const known of PATHS) {
    const wrong = wrongWords(known, given);
    if (wrong.length !== 1) continue;
    const [at] = wrong;
    if (given[at].length > WORD_MAX || suggest(given[at], [known[at]]) === undefined) continue;
    const distance = editDistance(given[at], known[at]);
    if (distance >= fewest) continue;
    best = given.with(at, known[at]).join('/');
    fewest = distance;
  }
  return best;
}

/** The places of the words that differ; all of them when the numbers of words differ. */
function wrongWords(known: readonly string[], given: readonly string[]): number[] {
  const places = [...known.keys()];
  if (known.length !== given.length) return places;
  return places.filter((at) => {
    return known[at].startsWith('{') ? given[at] === '' : known[at] !== given[at];
  });
}
