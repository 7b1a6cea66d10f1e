/** Light, dark, or as the system has it. The choice stays in this browser. */
export type Theme = 'system' | 'light' | 'dark';

const NAME = 'sluice-theme';

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(NAME);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(NAME);
    delete document.documentElement.dataset.theme;
    return;
  }
  localStorage.setItem(NAME, theme);
  document.documentElement.dataset.theme = theme;
}
