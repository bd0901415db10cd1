import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { occupiesSlot, type Run } from '../../../core/runs/run.ts';
import type { ListedSandbox } from '../../../systems/docker/container/list.ts';
import type { DoctorContext } from '../types.ts';
import { type Check, checked, counted, type Problem, skipped } from '../types.ts';
import { named } from './stuck-runs.ts';

/** The sandboxes of this machine's engine, against the runs. */
export const containers: Check = {
  name: 'containers',
  needs: ['schema', 'docker'],
  ifItFails: {
    code: 'containers_unknown',
    what: 'The containers cannot be compared',
    advice: 'See the log of the Docker Engine.',
  },
  async look(parts) {
    if (parts.docker === null) return skipped('neither DOCKER_HOST nor DATA_DIR is set here');
    const { all, leftover, bare } = await lookTwice(parts, parts.docker);
    const known = new Set((await parts.hosts.list()).map(({ hostId }) => hostId));
    const ours = leftover.filter(({ hostId }) => known.has(hostId));
    const strange = leftover.filter(({ hostId }) => !known.has(hostId));
    const troubles: (Problem | false)[] = [
      ours.length > 0 && leftOf(ours, parts.docker),
      strange.length > 0 && strangeOf(strange),
      bare.length > 0 && bareOf(bare),
    ];
    const found = troubles.filter((trouble) => trouble !== false);
    return checked([counted(all.length, 'container')], ...found);
  },
};

interface Look {
  all: ListedSandbox[];
  /** That no run needs. */
  leftover: ListedSandbox[];
  /** Whose agent has begun, and has no sandbox. */
  bare: Run[];
}

/** What a worker was just about to remove, or to make, is not there the second time. */
async function lookTwice(
  parts: DoctorContext,
  docker: NonNullable<DoctorContext['docker']>,
): Promise<Look> {
  const first = await lookOnce(parts, docker);
  if (first.leftover.length + first.bare.length === 0) return first;
  await parts.settle();
  const then = await lookOnce(parts, docker);
  const before = new Set([...first.leftover, ...first.bare].map(nameOf));
  return {
    all: then.all,
    leftover: then.leftover.filter((one) => before.has(nameOf(one))),
    bare: then.bare.filter((one) => before.has(nameOf(one))),
  };
}

const nameOf = ({ runId, generation }: { runId: string; generation: number }): string =>
  `${runId}-${generation}`;

async function lookOnce(
  parts: DoctorContext,
  docker: NonNullable<DoctorContext['docker']>,
): Promise<Look> {
  const live = await liveHere(parts);
  const all = await docker.list();
  const runs = await Promise.all(all.map(({ runId }) => parts.runs.find(runId)));
  const names = new Set(all.map(nameOf));
  return {
    all,
    leftover: all.filter((one, index) => !isNeeded(one, runs[index] ?? null)),
    bare: live.filter((run) => run.startedAt !== null && !names.has(nameOf(run))),
  };
}

const isNeeded = ({ generation }: ListedSandbox, run: Run | null): boolean =>
  run !== null && occupiesSlot(run) && run.generation === generation;

async function liveHere({ config, runs }: DoctorContext): Promise<Run[]> {
  if (config.dataDir === null) return [];
  const hostId = await readFile(join(config.dataDir, 'host-id'), 'utf8').catch(() => '');
  const live = await runs.liveOnHost(hostId.trim());
  return live.filter(({ sessionId }) => sessionId === null);
}

function leftOf(leftover: ListedSandbox[], docker: NonNullable<DoctorContext['docker']>): Problem {
  return {
    code: 'leftover_container',
    what: `${counted(leftover.length, 'container')} of runs that have ended: ${named(leftover)}.`,
    advice: 'The worker of their host removes them within seconds: start it, or see its log.',
    mend: async () => {
      for (const { containerId } of leftover) await docker.remove(containerId);
    },
  };
}

/** Not mended: with another database than theirs, every container looks like one of these. */
const strangeOf = (strange: ListedSandbox[]): Problem => ({
  code: 'strange_container',
  what: `${counted(strange.length, 'container')} of a host that this database has never seen: ${named(strange)}.`,
  advice:
    'Make sure that DATABASE_URL and INSTANCE are those of the service. If they are, remove them with `docker rm -f`; `docker ps -a --filter label=frs.run` lists them.',
});

const bareOf = (bare: Run[]): Problem => ({
  code: 'run_without_container',
  what: `${counted(bare.length, 'run')} of this host whose container is gone: ${named(bare)}.`,
  advice: 'Its worker ends them by itself: start it, or see its log.',
});
