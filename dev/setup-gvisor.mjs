import { runTypeScript } from './bootstrap.mjs';

await runTypeScript('setup-gvisor');
