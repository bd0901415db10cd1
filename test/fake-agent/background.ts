import type { Output } from './output.ts';
import type { Session } from './session.ts';

/** Says what runs in the background from now on. */
export function countTasks(
  { session, output }: { session: Session; output: Output },
  change: 1 | -1,
): void {
  session.backgroundTasks += change;
  const tasks = Array.from({ length: session.backgroundTasks }, (_, n) => ({ task_id: `t${n}` }));
  output.frame({ type: 'system', subtype: 'background_tasks_changed', tasks });
}
