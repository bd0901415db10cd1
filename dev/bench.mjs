import { runTypeScript } from './bootstrap.mjs';

await runTypeScript('../bench/run-on-stack');
