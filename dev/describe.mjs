import { runTypeScript } from './bootstrap.mjs';

await runTypeScript('docs-gen/main');
