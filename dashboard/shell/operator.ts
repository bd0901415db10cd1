import { signal } from '@preact/signals';
import type { Operator, Project } from '../../client/generated/types.ts';
import { isFlowrunError } from '../../client/http/errors.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { service } from './service.ts';
import { isSignedOut } from './signed-out.ts';

/** The operator who is signed in; null before that is known. */
export const operator = signal<Operator | null>(null);
export const projects = signal<readonly Project[]>([]);
export const startFailure = signal<Failure | null>(null);

/** Reads who is signed in, and the projects. Safe to repeat. */
export async function loadOperator(): Promise<void> {
  startFailure.value = null;
  try {
    const me = await service.data<Operator>({ path: '/me' });
    const found: Project[] = [];
    for await (const project of service.items<Project>({ path: '/projects' })) found.push(project);
    projects.value = found;
    operator.value = me;
    isSignedOut.value = false;
  } catch (error) {
    if (!(isFlowrunError(error) && error.status === 401)) startFailure.value = failureOf(error);
  }
}

export async function signIn(code: string): Promise<void> {
  await service.data({ method: 'POST', path: '/sign-in', json: { code }, attempts: 1 });
  await loadOperator();
}

export async function signOut(): Promise<void> {
  await service.data({ method: 'POST', path: '/sign-out', json: {} });
  operator.value = null;
  isSignedOut.value = true;
}
