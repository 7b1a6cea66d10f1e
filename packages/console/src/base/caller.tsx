/** Who uses the console, and what they may do. */
import type { CallerView } from '@sluice/protocol';
import { type Access, mayCall } from '@sluice/protocol/roles';
import { createContext, useContext } from 'react';

const CallerContext = createContext<CallerView | undefined>(undefined);

export const CallerProvider = CallerContext.Provider;

export function useCaller(): CallerView {
  const caller = useContext(CallerContext);
  if (caller === undefined) throw new Error('there is no caller outside of the log-in');
  return caller;
}

/** Whether calls of this kind are offered. The server checks each call again. */
export function useMay(access: Access): boolean {
  return mayCall(useCaller().roles, access);
}

const DEFAULT_NAMESPACE = 'default';

/** Whether figures of the whole server may be read. */
export function useSeesServer(): boolean {
  const { namespace } = useCaller();
  return useMay('read') && namespace === DEFAULT_NAMESPACE;
}
