/** Keys, the audit trail, quotas, callbacks that were given up, and what the server is. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PageHead } from '../../ui/parts.tsx';
import { AboutView } from './about.tsx';
import { AuditView } from './audit.tsx';
import { CallbacksView } from './callbacks.tsx';
import { KeysView } from './keys.tsx';

const VIEWS = {
  keys: 'Keys',
  audit: 'Audit trail',
  callbacks: 'Callbacks',
  about: 'Quotas and about',
} as const;

type View = keyof typeof VIEWS;

export function SettingsPage() {
  const search = useSearch({ from: '/settings' });
  const navigate = useNavigate();
  const view = (search.view ?? 'keys') as View;
  return (
    <>
      <PageHead title="Settings" />
      <div className="stack">
        <div className="tabs" role="tablist" aria-label="Settings">
          {(Object.keys(VIEWS) as View[]).map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              aria-selected={view === name}
              onClick={() => void navigate({ to: '/settings', search: { view: name } })}
            >
              {VIEWS[name]}
            </button>
          ))}
        </div>
        {view === 'keys' && <KeysView />}
        {view === 'audit' && <AuditView action={search.action} actor={search.actor} />}
        {view === 'callbacks' && <CallbacksView />}
        {view === 'about' && <AboutView />}
      </div>
    </>
  );
}
