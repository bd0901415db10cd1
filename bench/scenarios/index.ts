import type { Scenario } from '../measure/scenario.ts';
import { trigger } from './trigger.ts';

/** In the order of measurement. */
export const scenarios: readonly Scenario[] = [trigger];
