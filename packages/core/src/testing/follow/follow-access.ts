import type { CreateAccessKey } from '../../commands/access/create-access-key.ts';
import type { RevokeAccessKey } from '../../commands/access/revoke-access-key.ts';
import type { AccessCommand } from '../../commands/commands.ts';
import type { Author } from '../../decision/audit.ts';
import type { AccessKey } from '../../state/access/access-keys.ts';
import { agree } from './agree.ts';
import type { Carried } from './carried-command.ts';

/** Access keys, and the number of audit records. */
export class ModelAccess {
  keys: AccessKey[] = [];
  records = 0;

  /** Counts an audit record if there is a change with an author. */
  changed(isChange: boolean, { by }: { readonly by?: Author | undefined }): void {
    if (isChange && by !== undefined) this.records += 1;
  }
}

type CarriedOf<C extends AccessCommand> = Carried & { readonly command: C };

/** Applies an admin's command to the model; returns what was covered. */
export function followAccess(model: ModelAccess, carried: CarriedOf<AccessCommand>): string {
  const command: AccessCommand = carried.command;
  const refusal =
    command.type === 'create_access_key'
      ? create(model, command, carried.at)
      : revoke(model, command, carried.at);
  agree(
    `what became of ${command.type}`,
    carried.reply,
    refusal === '' ? {} : { rejection: refusal },
  );
  model.changed(refusal === '', command);
  return `${command.type} ${refusal}`.trim();
}

function create(model: ModelAccess, command: CreateAccessKey, now: number): string {
  const { id, hash, key, expiresInMs, namespace } = command;
  const old = 'replaces' in key ? visible(model, namespace, key.replaces) : undefined;
  if ('replaces' in key && old === undefined) return 'access_key_not_found';
  const made = 'replaces' in key ? (old as AccessKey) : key;
  if (namespace !== 'default' && namespace !== made.namespace) return 'foreign_namespace';
  if (model.keys.some((each) => each.id === id)) return 'access_key_known';
  if (model.keys.length === 0 && !isFirst(made)) return 'first_key';
  if ('replaces' in key) {
    model.keys = model.keys.map((each) => {
      if (each !== old) return each;
      const ends = [each.expiresAt || Number.POSITIVE_INFINITY, now + key.overlapMs];
      return { ...each, expiresAt: Math.min(...ends) };
    });
  }
  const { namespace: where, role, name } = made;
  const times = { createdAt: now, expiresAt: expiresInMs === undefined ? 0 : now + expiresInMs };
  model.keys.push({ id, namespace: where, role, name, hash, ...times });
  return '';
}

function revoke(model: ModelAccess, { id, namespace }: RevokeAccessKey, now: number): string {
  const key = visible(model, namespace, id);
  if (key === undefined) return 'access_key_not_found';
  const others = model.keys.filter((each) => each !== key && isFirst(each));
  const isOneLeft = others.some(({ expiresAt }) => expiresAt === 0 || expiresAt > now);
  if (isFirst(key) && !isOneLeft) return 'last_admin_key';
  model.keys = model.keys.filter((each) => each !== key);
  return '';
}

function visible({ keys }: ModelAccess, namespace: string, id: string): AccessKey | undefined {
  const key = keys.find((each) => each.id === id);
  return namespace === 'default' || key?.namespace === namespace ? key : undefined;
}

function isFirst({ role, namespace }: { readonly role: string; readonly namespace: string }) {
  return role === 'admin' && namespace === 'default';
}
