import { sizeOf } from '../advice.ts';
import { type Check, checked, counted } from '../types.ts';

const reportedPart = 0.9;
const projectsShown = 5;

export const storageCheck: Check = {
  name: 'storage',
  needs: ['schema'],
  onError: {
    code: 'storage_unknown',
    message: 'The stored bytes of the projects cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run({ projects }) {
    const near = await projects.nearQuota(reportedPart);
    if (near.length === 0) return checked([]);
    const shown = near
      .slice(0, projectsShown)
      .map(({ projectId, stored, quota }) => `${projectId} ${sizeOf(stored)} of ${sizeOf(quota)}`);
    return checked([], {
      code: 'storage_quota_near',
      message: `${counted(near.length, 'project')} near or over the storage quota: ${shown.join(', ')}.`,
      advice:
        'When a quota is used up, new runs are rejected and working agents end. Delete runs, or raise the quota ' +
        'with `flowrun project set <project> --storage-quota-bytes <n>`.',
    });
  },
};
