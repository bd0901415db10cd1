import type { App } from '../../app-types.ts';
import { installWriteDeadline } from '../write-deadline.ts';
import { installAnswerBudget } from './answer-budget.ts';
import { installBodyPace } from './body-pace.ts';
import { installJsonBody } from './json-body.ts';

/** How bodies of requests are received, and those of answers sent. */
export function installBodies(app: App): void {
  installJsonBody(app);
  installBodyPace(app);
  installAnswerBudget(app);
  installWriteDeadline(app);
}
