import type { Db } from '../client/pool.ts';

/** The owner of a monthly budget: a flow or a key of the project, or else the project. */
export interface BudgetHolder {
  projectId: string;
  flowId?: string;
  keyId?: string;
}

/**
 * Reports the thresholds that a changed budget has passed, see report_budgets.sql. Call it last in
 * the transaction of the change.
 */
export async function reportBudgets(db: Db, holder: BudgetHolder): Promise<void> {
  const values = [holder.projectId, holder.flowId ?? null, holder.keyId ?? null];
  await db.query('select report_budgets($1, $2, $3, true)', values);
}
