// breaks: nothing
import { Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import type { RunStore } from '../systems/postgres/run-store.ts';

export const needs = [Worker, createActivities];
export type Needs = RunStore;
