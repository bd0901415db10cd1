import type { Run } from '../../../core/runs/run.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';

/** True if a run must not start, or no longer needs a sandbox. */
export const hasEnded = (run: Run | null): boolean => run === null || run.endCause !== null;

/** A sandbox is started at most once. */
export function wasStarted({ run, session }: SandboxPlan, { generation }: SandboxRef): boolean {
  return session === null ? run.startedAt !== null : session.startedGeneration >= generation;
}
