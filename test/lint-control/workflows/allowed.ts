// breaks: nothing
import { defineSignal } from '@temporalio/workflow';
import { limits } from '../core/limits.ts';

export const names = ['a', 'b'];
export const stop = defineSignal('stop');

export function later(): number {
  let ms = limits.runTimeoutMs;
  ms += 1;
  return ms;
}
