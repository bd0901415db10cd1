import { runTypeScript } from './bootstrap.mjs';

await runTypeScript('describe');
