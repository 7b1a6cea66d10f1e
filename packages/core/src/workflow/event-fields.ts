import { isExpression } from './child-fields.ts';
import { wrongCallbackFields } from './http-fields.ts';
import type { Outline } from './outline.ts';
import type { Problems } from './problems.ts';

/** Where an EVENT goes: to the stream of events under a name, or to a receiver. */
export type Sink = { readonly name: string } | { readonly url: string };

const NAME = /^[A-Za-z0-9._:/-]{1,128}$/;
const WEBHOOK = 'webhook:';
const FORMS =
  'sluice:<name> and conductor:<name> publish it in the stream of events, ' +
  'webhook:<address> calls a receiver';

/** Who publishes an event: Conductor's names of events have both. */
interface Publisher {
  readonly workflow: string;
  readonly reference: string;
}

/** Reads a sink; a text says what is wrong with it. */
export function sinkOf(sink: unknown, { workflow, reference }: Publisher): Sink | string {
  if (typeof sink !== 'string') return `sink must be a text: ${FORMS}`;
  if (sink.startsWith(WEBHOOK)) {
    const url = sink.slice(WEBHOOK.length);
    const [wrong] = wrongCallbackFields({ url });
    return wrong === undefined ? { url } : `sink: ${wrong.message}`;
  }
  if (sink === 'conductor') return { name: `conductor:${workflow}:${reference}` };
  const [kind, ...rest] = sink.split(':');
  const name = rest.join(':');
  if ((kind !== 'sluice' && kind !== 'conductor') || !NAME.test(name)) {
    const rule = 'a name has letters, digits and . _ : / - and at most 128 of them';
    return `sink "${sink.slice(0, 100)}" is not supported: ${FORMS}; ${rule}`;
  }
  return { name: kind === 'sluice' ? name : `conductor:${workflow}:${name}` };
}

/** Checks the `sink` of an EVENT. */
export function checkSink(step: Outline, problems: Problems): void {
  const { sink } = step.value;
  const path = `${step.path}/sink`;
  if (sink === undefined || sink === null) {
    problems.add(path, 'missing_field', `an EVENT needs a sink: ${FORMS}`);
    return;
  }
  if (isExpression(sink)) return;
  const found = sinkOf(sink, { workflow: '', reference: step.reference });
  if (typeof found === 'string') problems.add(path, 'bad_field', found);
}

/** Whether the step may need a task: for a delivery. */
export function mayCallReceiver({ value: { sink } }: Outline): boolean {
  return isExpression(sink) || String(sink).startsWith(WEBHOOK);
}
