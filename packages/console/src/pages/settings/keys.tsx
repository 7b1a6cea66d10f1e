/** Access keys. The text of a new one is shown once; the server keeps only its hash. */
import type { KeyRequest } from '@sluice/protocol';
import { ROLES, type Role } from '@sluice/protocol/roles';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Answer, type ApiError, api, type Item } from '../../base/api.ts';
import { useCaller } from '../../base/caller.tsx';
import { live } from '../../base/live.ts';
import { useAction, useList } from '../../base/queries.ts';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Button, CodeLine, Empty, ErrorNote, Field, Panel, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { notify } from '../../ui/toast.tsx';

type Key = Item<'GET /v1/keys'>;
type NewKey = Answer<'POST /v1/keys'>;

export function KeysView() {
  const list = useList('GET /v1/keys', {}, { limit: 200 });
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const [made, setMade] = useState<NewKey>();
  return (
    <>
      <Panel
        title="Access keys"
        flush={list.items.length > 0}
        aside={
          <Button kind="primary" onClick={() => setCreating(true)}>
            Create a key
          </Button>
        }
      >
        <ErrorNote error={list.error} />
        {list.isSuccess && list.items.length === 0 && (
          <Empty title="No keys: the server is open to this machine">
            From the first key on, every call needs one. The first key is an admin of the namespace
            default; and this browser logs in with it.
          </Empty>
        )}
        {list.items.length > 0 && <KeyTable keys={list.items} onRevoke={setRevoking} />}
      </Panel>
      {isCreating && (
        <CreateDialog
          isFirst={list.items.length === 0}
          onClose={() => setCreating(false)}
          onMade={setMade}
        />
      )}
      {made !== undefined && <MadeDialog made={made} onClose={() => setMade(undefined)} />}
      {revoking !== undefined && (
        <RevokeDialog revoked={revoking} onClose={() => setRevoking(undefined)} />
      )}
    </>
  );
}

function KeyTable({
  keys,
  onRevoke,
}: {
  readonly keys: readonly Key[];
  readonly onRevoke: (key: Key) => void;
}) {
  const { actor } = useCaller();
  return (
    <ScrollArea className="table-scroll" label="Table of keys">
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Id</th>
            <th>Roles</th>
            <th>Namespace</th>
            <th>Created</th>
            <th>Expires</th>
            <th>Last used</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                {key.name === '' ? '–' : key.name}{' '}
                {key.id === actor && <span className="tag">yours</span>}
              </td>
              <td>
                <code className="muted">{key.id}</code>
              </td>
              <td>{key.roles.join(', ')}</td>
              <td>{key.namespace}</td>
              <td className="nowrap">
                <Time at={key.createdAt} ago />
              </td>
              <td className="nowrap">
                {key.expired ? (
                  'expired'
                ) : key.expiresAt === null ? (
                  'never'
                ) : (
                  <Time at={key.expiresAt} ago />
                )}
              </td>
              <td className="nowrap">
                <Time at={key.lastUsedAt} ago />
              </td>
              <td>
                <Button
                  size="small"
                  kind="danger"
                  aria-label={`Revoke ${key.name || key.id}`}
                  onClick={() => onRevoke(key)}
                >
                  Revoke
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

/**
 * Creates a key. From the first key on, every call needs one: this browser logs in with it, before
 * any other call of the page could be refused and the new key would be gone from the screen.
 */
function useCreate() {
  const client = useQueryClient();
  const isFirst = useCaller().actor === 'local';
  return useMutation<NewKey, ApiError, KeyRequest>({
    mutationFn: async (body) => {
      if (!isFirst) return api('POST /v1/keys', { body });
      live.stop();
      try {
        const made = await api('POST /v1/keys', { body });
        await api('POST /v1/login', { body: { key: made.key } });
        return made;
      } finally {
        live.start(client);
      }
    },
    onSettled: () => client.invalidateQueries(),
  });
}

interface CreateProps {
  readonly isFirst: boolean;
  readonly onClose: () => void;
  readonly onMade: (made: NewKey) => void;
}

const DAY_MS = 86_400_000;

function CreateDialog({ isFirst, onClose, onMade }: CreateProps) {
  const { namespace: own } = useCaller();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>(isFirst ? 'admin' : 'viewer');
  const [namespace, setNamespace] = useState(own);
  const [days, setDays] = useState('');
  const create = useCreate();
  const send = (event: FormEvent) => {
    event.preventDefault();
    const expiry = days === '' ? {} : { expiresInMs: Math.round(Number(days) * DAY_MS) };
    const onSuccess = (made: NewKey) => {
      onMade(made);
      onClose();
    };
    create.mutate({ name, role, namespace, ...expiry }, { onSuccess });
  };
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <form className="form" onSubmit={send}>
        <Field label="Name" hint="Such as its owner">
          <input value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Role">
          <select value={role} onChange={(event) => setRole(event.target.value as Role)}>
            {ROLES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
        <Field label="Namespace">
          <input
            required
            value={namespace}
            onChange={(event) => setNamespace(event.target.value)}
          />
        </Field>
        <Field label="Days until it expires" hint="Empty: never">
          <input
            type="number"
            min={0}
            step="any"
            value={days}
            onChange={(event) => setDays(event.target.value)}
          />
        </Field>
        <ErrorNote error={create.error} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function MadeDialog({ made, onClose }: { readonly made: NewKey; readonly onClose: () => void }) {
  return (
    <Dialog title="The new key" onClose={onClose}>
      <p>Copy it now: it is shown only once.</p>
      <CodeLine text={made.key} />
      <div className="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}

function RevokeDialog({
  revoked,
  onClose,
}: {
  readonly revoked: Key;
  readonly onClose: () => void;
}) {
  const revoke = useAction('DELETE /v1/keys/{id}');
  const name = revoked.name || revoked.id;
  const onSuccess = () => {
    notify(`Revoked ${name}`);
    onClose();
  };
  return (
    <Confirm
      title={`Revoke ${name}?`}
      action="Revoke the key"
      danger
      isBusy={revoke.isPending}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ params: { id: revoked.id } }, { onSuccess })}
    >
      <p>It no longer counts from this moment on, and its streams are cut.</p>
      <ErrorNote error={revoke.error} />
    </Confirm>
  );
}
