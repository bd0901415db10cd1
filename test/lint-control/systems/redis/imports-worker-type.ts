// breaks: eslint(no-restricted-imports)
import type { Supervisor } from '../../worker/supervisor/supervisor.ts';

export type Host = Supervisor;
