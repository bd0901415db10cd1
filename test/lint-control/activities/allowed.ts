// breaks: nothing
import { Context } from '@temporalio/activity';
import type { RunStore } from '../systems/postgres/run-store.ts';
import type { Supervisor } from '../worker/supervisor/supervisor.ts';
import { failureTypes } from '../workflows/activities.ts';

export const needs = [Context, failureTypes];
export type Store = RunStore;
export type Host = Supervisor;
