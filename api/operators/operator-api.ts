import type { App } from '../app-types.ts';
import type { BruteForceGuard } from '../auth/brute-force-guard.ts';
import type { ApiDeps } from '../deps.ts';
import { archiving } from './archiving/archive-flow.ts';
import { projectArchiving } from './archiving/archive-project.ts';
import { audit } from './audit/audit.ts';
import { checkFlow } from './check-flow.ts';
import { endpointEvents } from './endpoints/endpoint-events.ts';
import { endpoints } from './endpoints/endpoints.ts';
import { sessionEvents } from './endpoints/session-events.ts';
import { flows } from './flows.ts';
import { keys } from './keys.ts';
import { projects } from './projects.ts';
import { redeliver } from './redeliver.ts';
import { restoreVersion } from './restore-version.ts';
import { runs } from './runs.ts';
import { schedules } from './schedules/schedules.ts';
import { settings } from './settings.ts';
import { signIn } from './sign-in/sign-in.ts';
import { spend } from './spend/spend.ts';
import { tokens } from './tokens.ts';
import { usage } from './usage.ts';
import { webhookSecret } from './webhook-secret.ts';

/** The routes for operators, with their own sign-in: see identify-operator.ts. */
export function operatorApi(app: App, deps: ApiDeps, guard: BruteForceGuard): void {
  signIn(app, deps, guard);
  tokens(app, deps);
  audit(app, deps);
  projects(app, deps);
  projectArchiving(app, deps);
  settings(app, deps);
  webhookSecret(app, deps);
  keys(app, deps);
  flows(app, deps);
  checkFlow(app, deps);
  schedules(app, deps);
  archiving(app, deps);
  restoreVersion(app, deps);
  usage(app, deps);
  spend(app, deps);
  runs(app, deps);
  redeliver(app, deps);
  endpoints(app, deps);
  endpointEvents(app, deps);
  sessionEvents(app, deps);
}
