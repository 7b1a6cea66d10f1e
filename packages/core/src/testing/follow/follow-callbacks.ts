import { parseDeliveryId } from '../../base/delivery-id.ts';
import type {
  RecordDelivery,
  RecordDeliveryReply,
} from '../../commands/callbacks/record-delivery.ts';
import type { RedeliverCallbacks } from '../../commands/callbacks/redeliver-callbacks.ts';
import type { CallbackCommand } from '../../commands/commands.ts';
import { DELIVERY_FAILURES } from '../../task/delivery-failures.ts';
import type { ModelDelivery } from '../model/model-outbox.ts';
import { namespaceOf } from '../model/model-task.ts';
import type { PartitionModel } from '../model/partition-model.ts';
import { agree } from './agree.ts';
import type { Carried } from './carried-command.ts';

type CarriedOf<C extends CallbackCommand> = Carried & { readonly command: C };

const FINAL = ['gone', 'address_not_allowed', 'task_not_kept'];

/** Applies a command on deliveries to the model; returns what was covered. */
export function followCallback(model: PartitionModel, carried: CarriedOf<CallbackCommand>): string {
  const command: CallbackCommand = carried.command;
  return command.type === 'record_delivery'
    ? record(model, { ...carried, command })
    : redeliver(model, { ...carried, command });
}

function record({ outbox }: PartitionModel, carried: CarriedOf<RecordDelivery>): string {
  const { command, at } = carried;
  const { outcome, nextAt } = carried.reply as RecordDeliveryReply;
  const delivery = outbox.pending.find(({ number }) => number === command.delivery);
  if (delivery === undefined) {
    agree('what became of a delivery that nobody waits for', outcome, 'unknown');
    return 'delivery unknown';
  }
  const { failure, status, retryAfterMs } = command;
  if (failure === 0) {
    agree('what became of a delivery', outcome, 'delivered');
    outbox.deliver(delivery);
    return 'delivery delivered';
  }
  const isFinal = FINAL.includes(DELIVERY_FAILURES[failure]);
  outbox.fail(delivery, { failure, status, isFinal, retryAfterMs }, at);
  agree('what became of a delivery', outcome, delivery.givenUpAt === 0 ? 'failed' : 'given_up');
  takeJitter(delivery, nextAt);
  return isFinal ? 'delivery failed for good' : `delivery ${outcome}`;
}

/** Jitter cannot be predicted: the model takes it from the partition and checks its bounds. */
function takeJitter(delivery: ModelDelivery, drawn: number): void {
  const isWithin = drawn >= delivery.nextAt && drawn <= delivery.nextAt + delivery.jitterMs;
  agree(`that jitter of delivery ${delivery.number} is within its bounds`, isWithin, true);
  Object.assign(delivery, { nextAt: drawn, jitterMs: 0 });
}

function redeliver(model: PartitionModel, carried: CarriedOf<RedeliverCallbacks>): string {
  const { command, at } = carried;
  const { outbox, access } = model;
  const { ids, namespace, by } = command;
  const isOwn = ({ type }: ModelDelivery) => namespaceOf(type) === namespace;
  const known = ids === undefined ? outbox.givenUp.filter(isOwn) : [];
  const unknown: string[] = [];
  for (const id of ids ?? []) {
    const number = parseDeliveryId(id)?.number;
    const delivery = outbox.all.find((each) => each.number === number);
    if (delivery === undefined || !isOwn(delivery)) unknown.push(id);
    else if (!known.includes(delivery)) known.push(delivery);
  }
  agree('what is redelivered', carried.reply, { redelivered: known.length, unknown, more: false });
  if (known.length > 0 && by !== undefined) access.records += 1;
  for (const delivery of known) outbox.redeliver(delivery, at);
  if (known.length === 0) return 'redelivered none';
  return ids === undefined ? 'redelivered all' : 'redelivered some';
}
