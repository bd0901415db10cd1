import type { Logger } from 'pino';
import type { SandboxPlan } from '../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../workflows/shared/activities.ts';
import type { InteractionAnswers } from './input/interaction-answers.ts';
import type { TurnTracker } from './input/turn-tracker.ts';
import type { HeldLease } from './output/lease.ts';
import type { SpoolFile } from './output/spool-file.ts';
import type { SandboxFolders } from './sandbox-paths.ts';
import type { SessionContext } from './session/session-part.ts';
import type { ControlSocket } from './start/control-socket.ts';
import type { ExitWatch } from './stop/exit-watch.ts';

/** All that belongs to one sandbox while this process looks after it. */
export interface SandboxContext {
  ref: SandboxRef;
  /** Without what is secret in it: that is read when it is asked for. */
  run: SandboxPlan['run'];
  flow: SandboxPlan['flow'];
  folders: SandboxFolders;
  /** Null where it is missing: then its spool is all there is. */
  containerId: string | null;
  served: ControlSocket;
  lease: HeldLease;
  /** Aborted when the lease is lost. */
  lost: AbortSignal;
  spool: SpoolFile;
  exit: ExitWatch;
  turns: TurnTracker;
  /** Null for a plain run. */
  session: SessionContext | null;
  answers: InteractionAnswers;
  logger: Logger;
}
