import { render } from 'preact';
import { App } from './app.js';
import { applyTheme } from './theme.js';

applyTheme();
render(<App />, document.getElementById('console')!);
