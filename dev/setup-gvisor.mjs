import { runTypeScript } from './bootstrap.mjs';

await runTypeScript('stack/setup-gvisor');
