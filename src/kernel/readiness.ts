/** What a look at one condition found; texts are for operators. A warning still counts as right. */
export interface ReadinessResult {
  readonly ok: boolean;
  readonly detail?: string;
  readonly warning?: string;
}

/** One thing that must be right for this process to serve. */
export interface ReadinessCheck {
  readonly name: string;
  readonly check: () => Promise<ReadinessResult>;
}
