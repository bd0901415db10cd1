import type { ListedSession } from '../../systems/postgres/sessions/session-row.ts';
import { runView } from '../runs/run-view.ts';

export function sessionView({ run, queued, lastMessageAt }: ListedSession, publicUrl: string) {
  return {
    ...runView(run, publicUrl),
    queued,
    lastMessageAt: lastMessageAt?.toISOString() ?? null,
  };
}
