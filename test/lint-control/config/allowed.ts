// breaks: nothing
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { limits } from '../core/limits.ts';

export const needs = [loadClientConnectConfig, limits];
export const home = process.env.HOME;
