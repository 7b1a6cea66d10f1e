/**
 * The key of a queue: the task type alone in the default namespace, `namespace/type` in any other.
 * Neither part may contain a slash, so two queues never share a key. The default namespace, which
 * most servers use, needs no extra bytes.
 */
export const DEFAULT_NAMESPACE = 'default';

export function queueKey(namespace: string, taskType: string): string {
  return namespace === DEFAULT_NAMESPACE ? taskType : `${namespace}/${taskType}`;
}

export function namespaceOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? DEFAULT_NAMESPACE : key.slice(0, slash);
}

export function taskTypeOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}
