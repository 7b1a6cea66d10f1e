import { type Callback, callbackText } from '../task/task-labels.ts';
import { isExpression } from './child-fields.ts';
import { wrongCallbackFields } from './http-fields.ts';
import { isObject, type Place, type Problems } from './problems.ts';

/** The ends of a run that a receiver can hear of. */
const ENDS = ['succeeded', 'failed', 'timed_out', 'cancelled'];

/** Who hears of the ends of the runs of a definition. */
export interface RunCallback {
  readonly on: readonly string[];
  /** The callback in the form that tasks have. */
  readonly text: string;
}

/** Reads the `callback` of a definition; undefined without one. */
export function runCallback({ value }: Place, problems: Problems): RunCallback | undefined {
  const callback = value.callback ?? undefined;
  if (callback === undefined) return undefined;
  if (!isObject(callback)) {
    const what = 'callback must be an object with the url of a receiver';
    problems.add('/callback', 'bad_field', what);
    return undefined;
  }
  const { url, secret, on = ENDS } = callback;
  if (url === undefined) problems.add('/callback/url', 'missing_field', 'url is missing');
  const literal = { url, secret: secret ?? null };
  for (const [name, field] of Object.entries(literal)) {
    if (!isExpression(field)) continue;
    const what = `${name} of a definition's callback is no expression; a CALLBACK step takes one`;
    problems.add(`/callback/${name}`, 'bad_field', what);
  }
  const stated = Object.entries(literal).filter(([, field]) => !isExpression(field));
  for (const { name, message } of wrongCallbackFields(Object.fromEntries(stated))) {
    problems.add(`/callback/${name}`, 'bad_field', message);
  }
  const states = Array.isArray(on) ? on : [];
  if (states.length === 0 || states.some((state) => !ENDS.includes(state))) {
    const what = `on must be a list of one or more of ${ENDS.join(', ')}`;
    problems.add('/callback/on', 'bad_field', what);
  }
  const whole = { url, on: [...new Set(states)], ...((secret ?? undefined) && { secret }) };
  return { on: whole.on, text: callbackText(whole as Callback) };
}
