import type { ListedSession } from '../../systems/postgres/sessions/session-row.ts';
import { runView } from '../runs/run-view.ts';

export function sessionView({ run, queued, lastMessageAt }: ListedSession, apiUrl: string) {
  return {
    ...runView(run, apiUrl),
    queued,
    lastMessageAt: lastMessageAt?.toISOString() ?? null,
  };
}
