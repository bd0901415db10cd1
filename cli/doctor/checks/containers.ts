import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { occupiesSlot, type Run } from '../../../core/runs/run.ts';
import type { ListedSandbox } from '../../../systems/docker/container/list.ts';
import {
  type Check,
  checked,
  counted,
  type DoctorContext,
  type Problem,
  withoutDocker,
} from '../types.ts';
import { named } from './stuck-runs.ts';

/** Compares the sandboxes of this machine's engine with the runs. */
export const containersCheck: Check = {
  name: 'containers',
  needs: ['schema', 'docker'],
  onError: {
    code: 'containers_unknown',
    message: 'The containers cannot be listed',
    advice: 'Check the log of the Docker Engine.',
  },
  async run(context) {
    if (context.docker === null) return withoutDocker;
    const { all, orphaned, missing } = await compareTwice(context, context.docker);
    const known = new Set((await context.hosts.list()).map(({ hostId }) => hostId));
    const ours = orphaned.filter(({ hostId }) => known.has(hostId));
    const unknown = orphaned.filter(({ hostId }) => !known.has(hostId));
    const problems: (Problem | false)[] = [
      ours.length > 0 && orphanedProblem(ours, context.docker),
      unknown.length > 0 && unknownProblem(unknown),
      missing.length > 0 && missingProblem(missing),
    ];
    const found = problems.filter((problem) => problem !== false);
    return checked([counted(all.length, 'container')], ...found);
  },
};

interface Comparison {
  all: ListedSandbox[];
  /** Sandboxes that no run needs. */
  orphaned: ListedSandbox[];
  /** Started runs without a sandbox. */
  missing: Run[];
}

/** A difference that a worker is about to resolve is gone at the second comparison. */
async function compareTwice(
  context: DoctorContext,
  docker: NonNullable<DoctorContext['docker']>,
): Promise<Comparison> {
  const first = await compare(context, docker);
  if (first.orphaned.length + first.missing.length === 0) return first;
  await context.settle();
  const then = await compare(context, docker);
  const before = new Set([...first.orphaned, ...first.missing].map(nameOf));
  return {
    all: then.all,
    orphaned: then.orphaned.filter((one) => before.has(nameOf(one))),
    missing: then.missing.filter((one) => before.has(nameOf(one))),
  };
}

const nameOf = ({ runId, generation }: { runId: string; generation: number }): string =>
  `${runId}-${generation}`;

async function compare(
  context: DoctorContext,
  docker: NonNullable<DoctorContext['docker']>,
): Promise<Comparison> {
  const live = await liveHere(context);
  const all = await docker.list();
  const runs = await Promise.all(all.map(({ runId }) => context.runs.find(runId)));
  const names = new Set(all.map(nameOf));
  return {
    all,
    orphaned: all.filter((one, index) => !isNeeded(one, runs[index] ?? null)),
    missing: live.filter((run) => run.startedAt !== null && !names.has(nameOf(run))),
  };
}

const isNeeded = ({ generation }: ListedSandbox, run: Run | null): boolean =>
  run !== null && occupiesSlot(run) && run.generation === generation;

async function liveHere({ config, runs }: DoctorContext): Promise<Run[]> {
  if (config.dataDir === null) return [];
  const hostId = await readFile(join(config.dataDir, 'host-id'), 'utf8').catch(() => '');
  const live = await runs.activeOnHost(hostId.trim());
  return live.filter(({ sessionId }) => sessionId === null);
}

function orphanedProblem(
  orphaned: ListedSandbox[],
  docker: NonNullable<DoctorContext['docker']>,
): Problem {
  return {
    code: 'orphaned_container',
    message: `${counted(orphaned.length, 'container')} of runs that have ended: ${named(orphaned)}.`,
    advice: 'The worker of their host removes them within seconds: start it, or check its log.',
    fix: async () => {
      for (const { containerId } of orphaned) await docker.remove(containerId);
    },
  };
}

/** No fix, because with the wrong DATABASE_URL every container would be reported. */
const unknownProblem = (unknown: ListedSandbox[]): Problem => ({
  code: 'unknown_container',
  message: `${counted(unknown.length, 'container')} of a host that is not in this database: ${named(unknown)}.`,
  advice:
    'Check that DATABASE_URL and INSTANCE are those of the service. If they are, remove the containers with `docker rm -f`; `docker ps -a --filter label=frs.run` lists them.',
});

const missingProblem = (missing: Run[]): Problem => ({
  code: 'run_without_container',
  message: `${counted(missing.length, 'run')} of this host without a container: ${named(missing)}.`,
  advice: 'The worker of this host ends them: start it, or check its log.',
});
