import type { Logger } from 'pino';
import type { ChatReader } from '../../core/frames/chat-frames.ts';
import type { SandboxPlan } from '../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../workflows/shared/activities.ts';
import type { InteractionAnswers } from './input/interaction-answers.ts';
import type { TurnTracker } from './input/turn-tracker.ts';
import type { RenewedLease } from './output/lease.ts';
import type { SpoolFile } from './output/spool-file.ts';
import type { PauseState } from './pause-state.ts';
import type { SandboxFolders } from './sandbox-paths.ts';
import type { SessionTurnTracker } from './session/session-turn-tracker.ts';
import type { ControlSocket } from './start/control-socket.ts';
import type { ExitWatch } from './stop/exit-watch.ts';

/** A sandbox whose socket, lease and spool this process has opened. */
export interface PreparedSandbox {
  ref: SandboxRef;
  /** Contains no secrets. They are read from the database when the sandbox requests them. */
  run: SandboxPlan['run'];
  flow: SandboxPlan['flow'];
  folders: SandboxFolders;
  /** Null if the container is missing. Then only the spool is left. */
  containerId: string | null;
  socket: ControlSocket;
  lease: RenewedLease;
  /** Aborted when the lease is lost. */
  lost: AbortSignal;
  spool: SpoolFile;
  turns: TurnTracker;
  /** Null for a plain run. */
  session: SessionContext | null;
  answers: InteractionAnswers;
  logger: Logger;
}

/** Everything that belongs to one sandbox while this process supervises it. */
export interface SandboxContext extends PreparedSandbox {
  exit: ExitWatch;
  pause: PauseState;
}

/** The parts that only the sandbox of a session has. */
export interface SessionContext {
  sessionId: string;
  /** False if the workflow did not know of the sandbox when this process attached. */
  isClaimed: boolean;
  /** A previous process died between a turn's end and its save. Read when this process attached. */
  hasUnsavedTurn: boolean;
  turns: SessionTurnTracker;
  reader: ChatReader;
}
