// breaks: eslint(no-restricted-imports)
export { createEngine } from '../systems/docker/engine.ts';
