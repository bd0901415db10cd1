import type { Session } from '../../core/sessions/session.ts';
import { runView } from '../runs/run-view.ts';

export function sessionView({ run, queued, lastMessageAt }: Session, publicUrl: string) {
  return {
    ...runView(run, publicUrl),
    queued,
    lastMessageAt: lastMessageAt?.toISOString() ?? null,
  };
}
