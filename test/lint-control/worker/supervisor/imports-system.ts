// breaks: eslint(no-restricted-imports)
export { createSandboxes } from '../../systems/docker/sandbox.ts';
