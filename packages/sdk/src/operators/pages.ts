import type { PageOfAnything } from './operator-types.ts';

/** A part of a list. */
export interface Page<T> extends Omit<PageOfAnything, 'items'> {
  readonly items: readonly T[];
}

/** Which part of a list. */
export interface PageOptions {
  /** Maximum number of items, at most 1,000. Default 50. */
  readonly limit?: number;
  /** `nextCursor` of the previous page. Null or undefined: the first page. */
  readonly cursor?: string | null | undefined;
}

/** Size of the pages of which a whole list is made. */
const ITEMS_PER_PAGE = 200;

/** All items of a list. The next page is requested when the items before it were taken. */
export async function* eachItem<T>(
  page: (options: PageOptions) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let options: PageOptions = { limit: ITEMS_PER_PAGE };
  for (;;) {
    const { items, nextCursor } = await page(options);
    yield* items;
    if (nextCursor === null) return;
    options = { limit: ITEMS_PER_PAGE, cursor: nextCursor };
  }
}
