import type { Decision } from '../../decision/decision.ts';
import { type AccessKey, isOver } from '../../state/access/access-keys.ts';

export function findAccessKey(
  { state }: Decision,
  namespace: string,
  id: string,
): AccessKey | undefined {
  const key = state.accessKeys.get(id);
  return key !== undefined && isOver(namespace, key.namespace) ? key : undefined;
}
