// breaks: nothing
export { createEngine } from '../systems/docker/engine.ts';
export { createPool } from '../systems/postgres/pool.ts';
export { createNudger } from '../worker/reconciler/nudge-endings.ts';
