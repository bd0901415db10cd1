/**
 * The model of a host for projects without a model key, by its settings. `key`: that of the
 * operator's key. `offline`: the offline model, because of OFFLINE_MODEL=yes. `offline_by_default`:
 * the offline model, because neither is set. `none`: no model. The function `offers_model` in SQL
 * decides whether the offline model may answer.
 */
export type HostModel = 'key' | 'offline' | 'offline_by_default' | 'none';

export const mayAnswerOffline = (model: HostModel): boolean =>
  model === 'offline' || model === 'offline_by_default';

export const hostModelAdvice =
  'Set ANTHROPIC_API_KEY on it. For answers of the offline model, set OFFLINE_MODEL=yes on every host instead.';
