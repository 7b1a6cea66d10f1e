/** The API as queries: cached by call and arguments, read again when something changed. */
import {
  keepPreviousData,
  type QueryMeta,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type Answer, type ApiError, type Arguments, api, type Call } from './api.ts';
import { STILL } from './live.ts';

interface Options {
  readonly enabled?: boolean;
  readonly meta?: QueryMeta;
}

export function useApi<C extends Call>(call: C, args: Arguments<C> = {}, options: Options = {}) {
  return useQuery<Answer<C>, ApiError>({
    queryKey: [call, args],
    queryFn: ({ signal }) => api(call, { ...args, signal }),
    placeholderData: keepPreviousData,
    ...options,
  });
}

/** Pages of a list beyond which a live list would cost too much. */
const LIVE_PAGES_MAX = 3;

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

type PageCall = { [C in Call]: Answer<C> extends Page ? C : never }[Call];

/** A list in pages. The first pages are live; after that a reader is looking at the past. */
export function useList<C extends PageCall>(
  call: C,
  args: Arguments<C> = {},
  options: Options & { readonly limit?: number } = {},
) {
  const { limit = 50, ...rest } = options;
  const client = useQueryClient();
  const queryKey = [call, args, 'list'];
  const loaded = client.getQueryData<{ readonly pages: readonly unknown[] }>(queryKey)?.pages;
  const isLive = (loaded?.length ?? 0) <= LIVE_PAGES_MAX;
  type List = { items: readonly ItemOf<C>[]; nextCursor: string | null };
  const query = useInfiniteQuery<List, ApiError, { pages: List[] }, unknown[], string | undefined>({
    queryKey,
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) => {
      const fields = { ...args.query, limit, cursor: pageParam } as Arguments<C>['query'];
      return api(call, { ...args, query: fields, signal }) as Promise<unknown> as Promise<List>;
    },
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    ...rest,
    ...(isLive ? {} : { meta: STILL }),
  });
  const items = (query.data?.pages ?? []).flatMap((page) => page.items);
  return { ...query, items, isLive };
}

export type ItemOf<C extends Call> =
  Answer<C> extends { readonly items: readonly (infer T)[] } ? T : never;

/** A call that changes something. Everything on the screen is read again afterwards. */
export function useAction<C extends Call>(call: C) {
  const client = useQueryClient();
  return useMutation<Answer<C>, ApiError, Arguments<C>>({
    mutationFn: (args) => api(call, args),
    onSettled: () => client.invalidateQueries(),
  });
}
