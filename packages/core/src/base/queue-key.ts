/**
 * What a queue is known by: the task type alone in the default namespace, `namespace/type` in any
 * other. Neither part can hold a slash, so two queues never share a key, and the namespace that
 * most servers have costs nothing.
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
