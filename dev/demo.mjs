import { runTypeScript } from './bootstrap.mjs';

await runTypeScript('demo/main');
