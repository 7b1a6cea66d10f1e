/** The log-in: a key becomes a cookie that no script can read. */
import { type FormEvent, useState } from 'react';
import { type ApiError, api } from '../../base/api.ts';
import { Logo } from '../../ui/icons.tsx';
import { ErrorNote, Field } from '../../ui/parts.tsx';

interface LoginProps {
  /** Why somebody who was logged in is no longer. */
  readonly reason: string | undefined;
  readonly onDone: () => void;
}

export function LoginPage({ reason, onDone }: LoginProps) {
  const [key, setKey] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await api('POST /v1/login', { body: { key: key.trim() } });
      onDone();
    } catch (cause) {
      setError(cause as ApiError);
    }
    setBusy(false);
  };
  return (
    <main className="login">
      <form className="panel login-form" onSubmit={(event) => void submit(event)}>
        <div className="brand">
          <Logo />
          Sluice
        </div>
        <h1>Log in</h1>
        {reason !== undefined && error === null && (
          <div className="note" data-tone="warn" role="alert">
            You are not logged in: {reason}
          </div>
        )}
        <ErrorNote error={error} />
        <Field
          label="API key"
          hint="Starts with slk_. An admin creates keys: sluice key create --role viewer"
        >
          <input
            type="password"
            name="key"
            autoComplete="current-password"
            spellCheck={false}
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        <button className="button" data-kind="primary" type="submit" disabled={isBusy}>
          Log in
        </button>
      </form>
    </main>
  );
}
