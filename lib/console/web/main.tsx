import { render } from 'preact';
import { App } from './app.js';
import { applyTheme } from './parts/theme.js';

applyTheme();
render(<App />, document.getElementById('console')!);
