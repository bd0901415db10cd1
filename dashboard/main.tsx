import { render } from 'preact';
import { App } from './shell/app.tsx';
import { followLinks } from './shell/location.ts';
import { loadOperator } from './shell/operator.ts';
import { startShortcuts } from './shell/shortcuts.ts';
import { startClock } from './ui/clock.ts';

followLinks();
startClock();
startShortcuts();
render(<App />, document.getElementById('page') ?? document.body);
void loadOperator();
