import type { Logger } from 'pino';
import { type HostModel, hostModelAdvice } from '../../core/hosts/host-model.ts';

/**
 * Logs whether the offline model answers on this host, or nothing does, at the first heartbeat and
 * at each change: another host's first key changes it while this worker runs.
 */
export function createModelLog(model: HostModel, logger: Logger): (offersModel: boolean) => void {
  let offered: boolean | null = null;
  return (offersModel) => {
    if (model === 'key' || offersModel === offered) return;
    offered = offersModel;
    if (offersModel) logger.warn({ hint: offlineModelHint }, 'offline_model');
    else logger.warn({ hint: withoutModelHint }, 'host_without_model');
  };
}

const offlineModelHint =
  'For projects without a model key the offline model answers with made-up text. Set ANTHROPIC_API_KEY to use a real model.';
const withoutModelHint = `This host gets only runs of projects that have a model key. ${hostModelAdvice}`;
