import { createRoot } from 'react-dom/client';
import { applyTheme, chosenTheme } from './base/theme.ts';
import { App } from './shell/app.tsx';

applyTheme(chosenTheme());
createRoot(document.getElementById('root') as HTMLElement).render(<App />);
