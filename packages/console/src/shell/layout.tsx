/** The frame around every page: navigation, the state of the connection, and the palette. */
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { api } from '../base/api.ts';
import { useCaller, useMay } from '../base/caller.tsx';
import { useLiveState } from '../base/live.ts';
import { applyTheme, chosenTheme, type Theme } from '../base/theme.ts';
import { Icon, Logo } from '../ui/icons.tsx';
import { Button, Empty } from '../ui/parts.tsx';
import { StateShape } from '../ui/state-badge.tsx';
import { Toasts } from '../ui/toast.tsx';
import { PLACES } from './places.ts';
import { useShortcuts } from './shortcuts.ts';

const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })));

export function Layout() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const { pathname } = useRouterState({ select: (state) => state.location });
  const main = useRef<HTMLElement>(null);
  useShortcuts({ openPalette: () => setPaletteOpen(true) });
  useEffect(() => {
    setMenuOpen(false);
    setPaletteOpen(false);
    const name = PLACES.find(({ to }) => isAt(to, pathname))?.name ?? 'Console';
    document.title = `${name} · Sluice`;
  }, [pathname]);
  return (
    <>
      <ConnectionBanner />
      <div className="frame">
        <div className="narrow-bar">
          <Brand />
          <Button kind="ghost" aria-label="Search" onClick={() => setPaletteOpen(true)}>
            <Icon name="search" />
          </Button>
          <Button
            kind="ghost"
            aria-label="Menu"
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            <Icon name={isMenuOpen ? 'close' : 'menu'} />
          </Button>
        </div>
        <Sidebar isOpen={isMenuOpen} pathname={pathname} onSearch={() => setPaletteOpen(true)} />
        <main className="main" ref={main} tabIndex={-1}>
          <Suspense>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>{isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}</Suspense>
      <Toasts />
    </>
  );
}

function isAt(to: string, pathname: string): boolean {
  return to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`);
}

function Brand() {
  return (
    <Link to="/" className="brand">
      <Logo />
      Sluice
    </Link>
  );
}

interface SidebarProps {
  readonly isOpen: boolean;
  readonly pathname: string;
  readonly onSearch: () => void;
}

function Sidebar({ isOpen, pathname, onSearch }: SidebarProps) {
  const isAdmin = useMay('administer');
  const places = PLACES.filter(({ to }) => isAdmin || to !== '/settings');
  return (
    <div className="sidebar" data-open={isOpen}>
      <Brand />
      <button type="button" className="search-box" onClick={onSearch}>
        <Icon name="search" size={14} />
        Jump to …<kbd>Ctrl K</kbd>
      </button>
      <nav className="nav" aria-label="Pages">
        {places.map(({ to, name, icon }) => (
          <Link key={to} to={to} aria-current={isAt(to, pathname) ? 'page' : undefined}>
            <Icon name={icon} />
            {name}
          </Link>
        ))}
      </nav>
      <SidebarFoot />
    </div>
  );
}

function SidebarFoot() {
  const { actor, namespace, roles } = useCaller();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const state = useLiveState();
  const choose = (next: Theme) => {
    applyTheme(next);
    setTheme(next);
  };
  const leave = () => void api('DELETE /v1/login').then(() => window.location.assign('/'));
  return (
    <div className="sidebar-foot small">
      <span className="state small" data-tone={state === 'live' ? 'good' : 'warn'} role="status">
        <StateShape state={state === 'live' ? 'active' : 'queued'} size={12} />
        {state === 'live' ? 'Live' : 'Connecting …'}
      </span>
      <label className="theme-choice">
        <span className="muted">Theme</span>
        <select value={theme} onChange={(event) => choose(event.target.value as Theme)}>
          <option value="system">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      {actor === 'local' ? (
        <span className="muted">No keys: open on this machine</span>
      ) : (
        <div className="row">
          <span className="muted" title={actor}>
            {roles.join(', ')} · {namespace}
          </span>
          <Button size="small" onClick={leave}>
            Log out
          </Button>
        </div>
      )}
    </div>
  );
}

function ConnectionBanner() {
  const state = useLiveState();
  if (state !== 'lost') return null;
  return (
    <div className="banner" role="status">
      The connection to the server is lost. What you see is the last known state; the page
      reconnects by itself.
    </div>
  );
}

export function NoPage() {
  return (
    <Empty title="There is no such page">
      The address may be mistyped, or the page has moved. The pages are in the menu.
    </Empty>
  );
}
