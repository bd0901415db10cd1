// breaks: eslint(no-restricted-imports)
import type Docker from 'dockerode';

export type Engine = Docker;
