import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import type { WorkflowClient } from '../../runs/workflow-client.ts';
import type { WaitForTurnEnd } from '../turn-waiter.ts';
import { changeSessionConfig } from './change-session-config.ts';
import { chat } from './chat.ts';
import { endSession } from './end-session.ts';
import { listMessages } from './list-messages.ts';
import { listSessions } from './list-sessions.ts';
import { openSession } from './open-session.ts';
import { readSession } from './read-session.ts';
import { withdrawMessage } from './withdraw-message.ts';

export function sessions(
  app: App,
  deps: ApiDeps,
  calls: { workflows: WorkflowClient; waitForTurnEnd: WaitForTurnEnd; closing: AbortSignal },
): void {
  const { workflows } = calls;
  openSession(app, deps, workflows);
  chat(app, deps, calls);
  listSessions(app, deps);
  readSession(app, deps);
  endSession(app, deps, workflows);
  changeSessionConfig(app, deps);
  listMessages(app, deps);
  withdrawMessage(app, deps);
}
