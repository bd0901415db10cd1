import type { SandboxRef } from '../../workflows/shared/activities.ts';

/** For sets and maps of sandboxes. */
export const sandboxKey = ({ runId, generation }: SandboxRef): string => `${runId}-${generation}`;
